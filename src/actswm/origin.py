"""Where a result comes from: the command line and the commit that made it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Origin:
    command: str
    commit: str
    """With `+` if the tree had changes; empty outside a checkout."""


def this_command() -> Origin:
    return Origin(shlex.join(["actswm", *sys.argv[1:]]), commit())


def commit() -> str:
    """The project's commit, with `+` if the tree has changes; empty outside a checkout."""
    here = Path(__file__).parent
    try:
        revision = _git(here, "rev-parse", "--short=12", "HEAD")
        return revision + ("+" if _git(here, "status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()
