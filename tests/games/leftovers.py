"""What a game could leave behind: processes, shared memory, temporary folders, open descriptors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def processes_of(folder: Path) -> set[int]:
    """Running engines and guards that have something to do with a (temporary) folder."""
    found = set()
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                command = (process / "cmdline").read_text()
            except OSError:
                continue
            if str(folder) in command and ("viz_instance_id" in command or "guard.py" in command):
                found.add(int(process.name))
    return found


def shared_memory_of(folder: Path) -> set[Path]:
    """The shared memory of the engines that live below a (temporary) folder."""
    return {Path(line) for file in folder.glob("*/leftovers") for line in file.read_text().split()}


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def eventually(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Wait for what another process is about to do."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
