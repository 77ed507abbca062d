"""Shards that lie elsewhere, under s3:// and hf://: fetched once, kept here, fetched again when they are others there.

A shard is here when it has the size and the tag (S3's ETag, the hub's content id) that its place lists now. What a
killed run leaves of one is continued. The places are asked once by each process.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .atomic import write_whole, writing, written_whole
from .errors import UserError

CACHE = "ACTSWM_CACHE"
"""The environment variable that names the folder to keep shards in."""
_NAME = re.compile(r"(s3|hf):/{1,2}([^/].*)", re.DOTALL)
_BLOCK = 16 * 2**20
_ROUNDS = 3
"""Shards may be replaced while they are fetched; so often is looked for what they have become."""
Told = Callable[[str, int, int], None]
"""What is fetched, how many megabytes are here, and of how many."""
_known: dict[tuple[str, Path], tuple[Path, ...]] = {}
"""What this process has asked for."""


def is_remote(name: str | os.PathLike[str]) -> bool:
    """A `Path` leaves one slash of two."""
    return bool(_NAME.fullmatch(os.fspath(name)))


def cache_folder() -> Path:
    """Absolute, so that the shards stay where they are for processes that work elsewhere."""
    chosen = os.environ.get(CACHE)
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "actswm" / "datasets"
    return Path(chosen or default).absolute()


def fetched(name: str, ending: str, told: Told | None = None) -> tuple[Path, ...]:
    """The files of a remote file, folder (those with `ending`) or glob, all of them here and as they are there."""
    asked = name, cache_folder()
    if asked not in _known:
        _known[asked] = _fetched(name, ending, told or (lambda what, done, total: None))
    return _known[asked]


def _fetched(name: str, ending: str, told: Told) -> tuple[Path, ...]:
    match = _NAME.fullmatch(name)
    assert match, name
    scheme, path = match[1], match[2].rstrip("/")
    shown = f"{scheme}://{path}"
    for _ in range(_ROUNDS):
        with _failures_told(shown, scheme):
            place = _filesystem(scheme)
            found = _listed(place, path, ending)
        if not found:
            raise UserError(f"{shown}: there is no dataset file (*{ending}) in it")
        shards = [_Shard(scheme, info) for info in found]
        absent = [shard for shard in shards if not shard.is_here()]
        if not absent:
            return tuple(shard.path for shard in shards)
        for shard in absent:
            with _alone(shard.path), _failures_told(shard.name, scheme):
                if shard.is_here():  # another process was faster
                    continue
                try:
                    shard.fetch(place, told)
                except OSError as error:
                    if error.errno != errno.EBUSY:  # what s3fs says of an object replaced since it was listed
                        raise
    raise UserError(f"{shown}: changes while it is fetched; run again when it is whole")


def _filesystem(scheme: str) -> Any:
    """One that has seen nothing yet."""
    import fsspec

    return fsspec.filesystem(scheme, skip_instance_cache=True)


def _listed(place: Any, path: str, ending: str) -> list[dict[str, Any]]:
    """In the order of a local dataset's files: by name, those of a folder where the folder stands."""
    matched = place.glob(path, detail=True).values() if glob.has_magic(path) else [place.info(path)]
    files: list[dict[str, Any]] = []
    for each in sorted(matched, key=_name):
        if each["type"] != "directory":
            files.append(each)
            continue
        inside = [file for file in place.ls(each["name"], detail=True) if file["type"] == "file"]
        named = [file for file in inside if re.search(rf"/[^./][^/]*{re.escape(ending)}$", file["name"])]
        files += sorted(named, key=_name)
    return files


def _name(info: dict[str, Any]) -> str:
    return info["name"]


class _Shard:
    """A file there, and its place here."""

    def __init__(self, scheme: str, info: dict[str, Any]) -> None:
        self.remote, self.size = info["name"], int(info["size"])
        self.name = f"{scheme}://{self.remote}"
        self._state = f"{self.size} {info.get('ETag') or info.get('blob_id') or info.get('xet_hash')}"
        parts = self.remote.split("/")
        if {"", ".", ".."} & set(parts):
            raise UserError(f"{self.name}: has a name that no file here can have; rename it")
        self.path = cache_folder().joinpath(scheme, *parts)
        self._note = self.path.with_name(f".{self.path.name}.fetched")

    def is_here(self) -> bool:
        try:
            return self.path.stat().st_size == self.size and self._note.read_text() == self._state
        except (OSError, UnicodeDecodeError):
            return False

    def fetch(self, place: Any, told: Told) -> None:
        digest = hashlib.sha256(self._state.encode()).hexdigest()[:16]
        partial = self.path.with_name(f".{self.path.name}.{digest}.partial")
        for old in self.path.parent.glob(f".{glob.escape(self.path.name)}.*.partial"):
            if old != partial:
                old.unlink()
        with writing(partial), partial.open("ab") as out:
            at = out.tell()
        with place.open(self.remote, "rb", block_size=_BLOCK, cache_type="none") as source:
            while at < self.size:
                told(self.path.name, at >> 20, self.size >> 20)
                source.seek(at)
                block = source.read(min(_BLOCK, self.size - at))
                if not block:
                    raise ConnectionError(f"it ended after {at} of {self.size} bytes")
                with writing(partial), partial.open("ab") as out:
                    out.write(block)
                at += len(block)
        with written_whole(self.path) as temporary:
            partial.replace(temporary)
        write_whole(self._note, self._state)
        told(self.path.name, self.size >> 20, self.size >> 20)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Processes that want the same shard wait for each other."""
    lock = path.with_name(".lock")
    with writing(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("a")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _failures_told(name: str, scheme: str) -> Iterator[None]:
    try:
        yield
    except UserError:
        raise
    except ImportError:
        raise UserError(f"{name}: to read from {scheme}://: pip install 'actswm[remote]'") from None
    except FileNotFoundError:
        holder = "bucket" if scheme == "s3" else "repository (if it is private: hf auth login)"
        raise UserError(f"{name}: there is no such file or folder, or no such {holder}") from None
    except PermissionError as error:
        raise UserError(f"{name}: may not be read with these credentials ({_one_line(error)})") from None
    except Exception as error:  # what libraries of the network raise
        if "Credentials" in type(error).__name__:
            raise UserError(
                f"{name}: no credentials for it; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                "FSSPEC_S3_ANON=true for a public bucket"
            ) from None
        raise UserError(f"{name}: cannot be read ({_one_line(error)}); run again to go on") from None


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
