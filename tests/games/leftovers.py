"""What a game could leave behind: processes, shared memory, temporary folders, open descriptors."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path


def engine_processes(owner: int | None = None) -> set[int]:
    """Running engines and guards; only children of `owner`, where given."""
    found = set()
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            command = (process / "cmdline").read_text()
            parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        is_engine = "viz_instance_id" in command or "guard.py" in command
        if is_engine and (owner is None or parent == owner):
            found.add(int(process.name))
    return found


def files_left() -> set[str]:
    """Our temporary folders, and shared memory of engines."""
    folders = {str(path) for path in Path(tempfile.gettempdir()).glob("actswm-*")}
    return folders | {str(path) for path in Path("/dev/shm").glob("ViZDoom*")}


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    """Wait for what another process is about to do."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
