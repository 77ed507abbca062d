"""Of which state of D2E a recording is. Its authors mended the synchronisation on 2025-12-01, and took back what was
before."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

SYNC_MENDED = datetime(2025, 12, 1, tzinfo=UTC)
_DOWNLOADS = Path(".cache", "huggingface", "download")
"""Inside a folder that was downloaded from the hub: `<file>.metadata` with commit, etag and time."""


@dataclass(frozen=True)
class Origin:
    """When a file came here, and, where a download from the hub left word, of which revision it is."""

    time: datetime
    revision: str | None = None


def origin_of(path: Path) -> Origin:
    for folder in path.absolute().parents:
        metadata = folder / _DOWNLOADS / f"{path.absolute().relative_to(folder)}.metadata"
        with suppress(OSError, ValueError, IndexError, OverflowError):
            commit, _, time = metadata.read_text().split()[:3]
            return Origin(datetime.fromtimestamp(float(time), UTC), commit)
        if folder.parent.name == "snapshots":  # the hub's cache: snapshots/<commit>/..., links to what came
            return Origin(_changed(path), folder.name)
    return Origin(_changed(path))


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def out_of_sync(path: Path) -> str | None:
    """What to tell of a recording that came before the fix; a file's own date may be that of another recorder's."""
    origin = origin_of(path)
    if origin.time >= SYNC_MENDED:
        return None
    if origin.revision:
        came = f"downloaded on {origin.time:%Y-%m-%d} (revision {origin.revision[:7]}),"
    else:
        came = f"its file is of {origin.time:%Y-%m-%d}; if it is from D2E, that is"
    return f"{came} before D2E mended the synchronisation of its recordings ({SYNC_MENDED:%Y-%m-%d}): get it again"
