"""Where a result comes from: the command line, the commit and the machine that made it."""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Origin:
    """Empty or None where nobody told."""

    command: str = ""
    commit: str = ""
    """With `+` if the tree had changes; empty outside a checkout."""
    machine: str = ""
    seed: int | None = None


UNKNOWN = Origin()


def this_command(seed: int | None = None) -> Origin:
    return Origin(shlex.join(["actswm", *sys.argv[1:]]), commit(), machine(), seed)


def commit() -> str:
    """The project's commit, with `+` if the tree has changes; empty outside a checkout."""
    here = Path(__file__).parent
    try:
        revision = _git(here, "rev-parse", "--short=12", "HEAD")
        return revision + ("+" if _git(here, "status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine() -> str:
    """Cores, architecture and, where the system tells, the processor's model."""
    model = ""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    return ", ".join(filter(None, [f"{os.cpu_count()} cores", platform.machine(), model]))


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()
