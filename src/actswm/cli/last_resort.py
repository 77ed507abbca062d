"""What is said when nothing else fits: a machine that refuses, or a bug of ours with its details in a file."""

from __future__ import annotations

import errno
import sys
import tempfile
import time
import traceback
from pathlib import Path

from .. import __version__
from .printing import one_line

BUG = 70
"""EX_SOFTWARE of sysexits.h."""
REFUSALS = {
    errno.ENOSPC: "make room and run the same command again",
    errno.EDQUOT: "make room and run the same command again",
    errno.EROFS: "choose another place",
    errno.EACCES: "choose another place, or change its permissions",
    errno.EPERM: "choose another place, or change its permissions",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOTDIR: "choose another place",
    errno.EISDIR: "name a file, not a folder",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
    errno.ENOMEM: "free some memory",
    errno.EIO: "check the disk",
}
"""What a file system may say to any command -> what to do."""


def refusal(error: OSError) -> str | None:
    """One line about a file system that does not do what it is asked; None if it is no such thing."""
    if error.errno not in REFUSALS:
        return None
    where = f"{error.filename}: " if error.filename else ""
    return one_line(f"{where}{error.strerror}; {REFUSALS[error.errno]}")


def write_details(error: BaseException) -> str:
    """The traceback into a file of its own; where it lies, or the traceback itself if nothing can be written."""
    text = "".join(traceback.format_exception(error))
    about = f"actswm {__version__}, Python {sys.version.split()[0]}, {sys.platform}\n{sys.argv}\n\n{text}"
    try:
        name = time.strftime("actswm-bug-%Y%m%d-%H%M%S-")
        with tempfile.NamedTemporaryFile(
            "w", prefix=name, suffix=".log", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(about)
        return str(Path(file.name))
    except OSError:
        return one_line(text)
