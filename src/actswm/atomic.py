"""Files that appear whole or not at all: written under a temporary name, then renamed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .errors import UserError


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`, with its ending; what the block writes there becomes `path` when it ends well.

    A disk that is full or read-only is the user's to mend: it is told as such, and `path` stays as it was.
    """
    if not path.name:  # "." and "/"
        raise UserError(f"{path}: is a folder; name a file to write")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp{path.suffix}")
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_abandoned(path)
            yield temporary
            os.replace(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_whole(path: Path, content: str | bytes) -> None:
    with written_whole(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def write_json(path: Path, content: Any) -> None:
    write_whole(path, json.dumps(content, indent=2) + "\n")


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
            file.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
