"""What can go wrong with one video, by reason, so that a run can count it and go on with the others."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import av

from ...errors import UserError


class Trouble(Exception):
    """`reason` is one of a few words (`not found`, `rate limited`, `broken`...), the text one line about this case."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(" ".join(message.split()))
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return Trouble, (self.reason, str(self))


@dataclass(frozen=True)
class Failure:
    """A video that a stage could not do."""

    stage: str
    id: str
    name: str
    reason: str
    message: str


@contextmanager
def one_line(what: str) -> Iterator[None]:
    """Errors of files and of what is in them as `Trouble`."""
    try:
        yield
    except UserError as error:
        if _full(error.__cause__):
            raise Trouble("disk full", str(error)) from None
        text = str(error)
        raise Trouble("empty" if "is empty" in text or "no frames" in text else "broken", text) from None
    except (OSError, av.FFmpegError) as error:
        if _full(error):
            raise Trouble("disk full", f"{what}: no space left; free some and run again") from None
        raise Trouble("broken", f"{what}: {error}") from None


def _full(error: BaseException | None) -> bool:
    return getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
