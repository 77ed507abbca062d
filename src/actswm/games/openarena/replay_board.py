"""The small file that a replaying engine and its host share; `_Board` is `struct board` of replaying.c."""

from __future__ import annotations

import ctypes
import mmap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..lockstep.build import preload_library, shim_library

LOG_FRAMES = 1 << 16


class _Entry(ctypes.Structure):
    _fields_ = [("position", ctypes.c_uint64), ("hash", ctypes.c_uint64)]


class _Board(ctypes.Structure):
    _fields_ = [
        ("layout", ctypes.c_uint32),
        ("width", ctypes.c_uint32),
        ("height", ctypes.c_uint32),
        ("marker", ctypes.c_uint32),
        ("keep_log", ctypes.c_uint32),
        ("frames", ctypes.c_uint64),
        ("position", ctypes.c_uint64),
        ("log", _Entry * LOG_FRAMES),
    ]


class Board:
    """How much of the demo has been read for the frame that was finished last, and the marker's switch."""

    def __init__(self, path: Path, size: tuple[int, int], *, marker: bool, keep_log: bool = False) -> None:
        self.path = path
        path.write_bytes(bytes(ctypes.sizeof(_Board)))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), ctypes.sizeof(_Board))
        self._board = _Board.from_buffer(self._memory)
        self._board.height, self._board.width = size
        self._board.marker, self._board.keep_log = marker, keep_log

    @property
    def environment(self) -> dict[str, str]:
        library = preload_library("replaying", str(__package__), ["replaying.c"])
        return {"LD_PRELOAD": f"{library}:{shim_library()}", "ACTSWM_REPLAY_BOARD": str(self.path)}

    @property
    def attached(self) -> bool:
        return bool(self._board.layout == ctypes.sizeof(_Board))

    @property
    def frames(self) -> int:
        return int(self._board.frames)

    @property
    def position(self) -> int:
        return int(self._board.position)

    def log(self) -> NDArray[np.uint64]:
        """(n, 2) position and hash of the frames so far."""
        rows = min(self.frames, LOG_FRAMES)
        entries = np.frombuffer(self._memory, np.uint64, 2 * LOG_FRAMES, _Board.log.offset)
        return entries.reshape(-1, 2)[:rows].copy()

    def close(self) -> None:
        if hasattr(self, "_board"):
            del self._board
            self._memory.close()
