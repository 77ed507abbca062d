"""Files that appear whole or not at all: written under a temporary name, then renamed."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import UserError


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """`appearing_whole` for a block that only writes: a disk that is full or read-only is told as such."""
    if not path.name:  # "." and "/"
        raise UserError(f"{path}: is a folder; name a file to write")
    with writing(path), appearing_whole(path) as temporary:
        yield temporary


@contextmanager
def appearing_whole(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`, with its ending; what the block writes there becomes `path` when it ends well.

    Otherwise `path` stays as it was, and nothing stays beside it that begins with the temporary name.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp{path.suffix}")
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(path)
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            for left in [file for file in path.parent.iterdir() if file.name.startswith(temporary.name)]:
                left.unlink()


@contextmanager
def folder_written_whole(path: Path) -> Iterator[Path]:
    """An empty folder beside `path` that becomes `path` when the block ends well; what is there already stays."""
    if path.exists():
        raise UserError(f"{path}: is there already; choose another --out")
    with written_whole(path) as temporary:
        try:
            temporary.mkdir()
            yield temporary
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def write_whole(path: Path, content: str | bytes) -> None:
    with written_whole(path) as temporary:
        # a file's name, which a text may quote, can hold bytes that are no text
        temporary.write_bytes(content.encode(errors="backslashreplace") if isinstance(content, str) else content)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Tell in one line why `path` could not be written."""
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> UserError:
    reason = error.strerror or str(error) or type(error).__name__
    return UserError(
        f"{path}: cannot be written ({reason}); make room or choose another place, and run again"
    )


def remove_abandoned(path: Path) -> None:
    """Remove what processes that are gone have left of their attempts to write `path`.

    More than one dot in front: such a file may itself have been written by way of a temporary one.
    """
    pattern = re.compile(rf"\.+{re.escape(path.name)}\.(\d+)\.tmp.*")
    for file in path.parent.iterdir():
        match = pattern.fullmatch(file.name)
        if match and not _alive(int(match[1])):
            if file.is_dir():
                shutil.rmtree(file)
            else:
                file.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
