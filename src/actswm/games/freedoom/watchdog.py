"""A ViZDoom that is killed must not take its owner with it.

Engine and owner talk through two queues in shared memory, each with a lock. An engine that is killed while it holds
one leaves it locked, and ViZDoom waits for it for ever, in C++ where no exception reaches it. The watchdog notices
the engine's death and unlocks in its name; ViZDoom then finds out by itself that its engine is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import select
import threading
from collections.abc import Iterable
from pathlib import Path

import numpy as np

PERIOD = 0.5
"""Seconds between two looks at the locks of a dead engine."""
HEAD_BYTES = 256
"""The part of a queue's memory that has its lock."""
_OWNER = 2
"""Where glibc's mutex names its owner, in words; word 0 is the lock itself."""

_libc = ctypes.CDLL(None)


class Watchdog:
    """Watches the engine whose launcher writes `engine.pid` and `leftovers` into `folder`, until `release`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def release(self) -> None:
        self._released.set()
        self._thread.join()

    def _watch(self) -> None:
        pid, queues = self._engine()
        if pid is None:
            return
        with contextlib.suppress(ProcessLookupError):
            engine = os.pidfd_open(pid)
            try:
                while not select.select([engine], [], [], PERIOD)[0]:
                    if self._released.is_set():
                        return
            finally:
                os.close(engine)
        while not self._released.wait(PERIOD):  # it may come to its locks only later
            unlock_for_dead(pid, queues)

    def _engine(self) -> tuple[int | None, list[Path]]:
        """Its process id and queues, as soon as the launcher has written them."""
        while not self._released.wait(0.02):
            with contextlib.suppress(OSError, ValueError):
                leftovers = (self._folder / "leftovers").read_text()
                if leftovers.endswith("\n"):
                    queues = [Path(path) for path in leftovers.split() if "ViZDoomMQ" in path]
                    return int((self._folder / "engine.pid").read_text()), queues
        return None, []


def unlock_for_dead(pid: int, queues: Iterable[Path]) -> None:
    """Unlock what the process `pid` held at its death."""
    for queue in queues:
        with contextlib.suppress(OSError, ValueError), queue.open("r+b") as file:
            memory = mmap.mmap(file.fileno(), HEAD_BYTES)
            words = np.frombuffer(memory, np.int32)
            for owner in np.flatnonzero(words[_OWNER:] == pid) + _OWNER:
                if words[owner - _OWNER] in (1, 2):  # locked, and perhaps waited for
                    _libc.pthread_mutex_unlock(ctypes.c_void_p(words[owner - _OWNER :].ctypes.data))
