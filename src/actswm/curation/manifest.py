"""What a finished dataset file was made of, so that the next run knows what is done."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from ..data import open_checked
from ..errors import UserError
from ..json_files import read_json, write_json
from .report import RecordingReport

_VERSION = 1


@dataclass(frozen=True)
class Entry:
    """A recording inside the file: its episodes are `first_episode` and the following ones."""

    key: str
    first_episode: int
    report: RecordingReport


@dataclass(frozen=True)
class Manifest:
    """Lies beside the dataset file as `<file>.manifest.json`."""

    entries: tuple[Entry, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Also stored in the dataset file, to tell which manifest belongs to it."""
        return hashlib.sha256("\n".join(entry.key for entry in self.entries).encode()).hexdigest()

    def counts(self, episodes: int) -> bool:
        """Are the recordings' episodes those of a file that has so many, one after the other?"""
        ends = [0, *accumulate(entry.report.episodes for entry in self.entries)]
        return ends[-1] == episodes and ends[:-1] == [entry.first_episode for entry in self.entries]

    @classmethod
    def read(cls, out: Path) -> Manifest:
        """The manifest of `out`; empty if there is no such file.

        The dataset file and its manifest cannot be replaced in one instant. The new manifest is written first,
        under another name, and takes its place after the file; a run that died in between left both, and the
        file says which is true.
        """
        if not out.exists():
            return cls()
        with open_checked(out, may_be_empty=True) as file:
            fingerprint, episodes = file.attributes.get("manifest"), file.num_episodes
        for path in (_path(out), _next_path(out)):
            manifest = _load(path) if path.exists() else None
            if manifest is not None and manifest.fingerprint == fingerprint and manifest.counts(episodes):
                path.replace(_path(out))
                return manifest
        raise UserError(f"{out}: exists, but has no manifest of this command beside it; choose another name")

    def announce(self, out: Path) -> None:
        """Write the manifest of a file that is about to be replaced."""
        write_json(
            _next_path(out), {"version": _VERSION, "entries": [asdict(entry) for entry in self.entries]}
        )

    def settle(self, out: Path) -> None:
        """The file is in place: so is its manifest."""
        _next_path(out).replace(_path(out))


def _path(out: Path) -> Path:
    return out.with_name(f"{out.name}.manifest.json")


def _next_path(out: Path) -> Path:
    return out.with_name(f"{out.name}.manifest.next.json")


def _load(path: Path) -> Manifest | None:
    try:
        stored: dict[str, Any] = read_json(path)
        return Manifest(
            tuple(
                Entry(str(one["key"]), one["first_episode"], RecordingReport.from_json(one["report"]))
                for one in stored["entries"]
            )
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
