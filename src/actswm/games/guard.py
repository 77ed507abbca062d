"""Nothing stays behind when a game's owner dies: a guard process cleans up after it.

A game engine lives in a private folder. The guard is a small process that holds the read end of a pipe of its
owner; when the owner is gone, however it went (SIGKILL included), the guard

- kills each process whose id is in a `*.pid` file of the folder and which still runs in the folder,
- removes the files listed in the folder's `leftovers` (one path a line: shared memory, sockets),
- removes the folder.

An owner that closed its engine itself has removed the folder already, and the guard just ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path


class EngineDied(RuntimeError):
    """A game's engine ended by itself or was killed; the game works again after the next `reset`."""


class Guard:
    """Watches over `folder` until `release`, or until this process ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # -I -S: the guard is only this file and the standard library; a session of its own, so that Ctrl+C
        # in a terminal reaches the owner and not the guard.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def release(self) -> None:
        """Clean the folder now, and end the guard. May be called again."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        self._process.wait()


def clean(folder: Path) -> None:
    """Kill the folder's processes, remove its leftovers and then the folder."""
    for pid_file in folder.glob("*.pid"):
        with contextlib.suppress(OSError, ValueError):
            _kill(int(pid_file.read_text()), folder)
    with contextlib.suppress(OSError):
        for path in (folder / "leftovers").read_text().splitlines():
            Path(path).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _kill(pid: int, folder: Path) -> None:
    """SIGKILL `pid` and wait for its end, if it is one of the folder's: ids are used again by the system."""
    if Path(os.readlink(f"/proc/{pid}/cwd")) != folder.resolve():
        return
    os.kill(pid, signal.SIGKILL)
    for _ in range(500):
        os.readlink(f"/proc/{pid}/cwd")  # raises once the process is dead
        time.sleep(0.01)


if __name__ == "__main__":
    for name in ("SIGINT", "SIGHUP", "SIGTERM"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    sys.stdin.buffer.read()
    clean(Path(sys.argv[1]))
