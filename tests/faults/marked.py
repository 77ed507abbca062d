"""Processes that descend from a command, however they detached: all inherit a mark in their environment."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

MARK = "ACTSWM_FAULTS_MARK"


def marked_processes(mark: str) -> set[int]:
    wanted = f"{MARK}={mark}".encode()
    found = set()
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                ended = (process / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
                if not ended and wanted in (process / "environ").read_bytes().split(b"\0"):
                    found.add(int(process.name))
    return found


def shared_memory_of(mark: str) -> set[Path]:
    """Shared memory and semaphores that the marked processes have mapped."""
    found = set()
    for process in marked_processes(mark):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{process}/maps").read_text().splitlines():
                place = line.split(maxsplit=5)[5:]
                if place and place[0].startswith("/dev/shm/"):
                    found.add(Path(place[0].removesuffix(" (deleted)")))
    return found


def orphans(mark: str, patience: float, known: int = 0) -> int:
    """How many are left after `patience` seconds but for the `known` one; they are ended here."""
    deadline = time.monotonic() + patience
    while (left := marked_processes(mark) - {known}) and time.monotonic() < deadline:
        time.sleep(0.1)
    for process in left:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    return len(left)
