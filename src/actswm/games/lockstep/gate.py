"""The memory that host and engine share: time, input and commands in; frames, telemetry and events out.

`_Layout` is `struct gate` of shim.c. The memory has no name in the file system (a memfd that the engine
inherits), so that nothing can be left behind.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...game import Frame

MAX_INPUTS = 64
MAX_TELEMETRY = 32
COMMAND_BYTES = 1 << 18
EVENT_BYTES = 1 << 18
_SEMAPHORE_BYTES = 64


class _Input(ctypes.Structure):
    _fields_ = [("key", ctypes.c_uint32), ("pressed", ctypes.c_uint32)]


class _Layout(ctypes.Structure):
    _fields_ = [
        ("layout", ctypes.c_uint32),
        ("lockstep", ctypes.c_uint32),
        ("width", ctypes.c_uint32),
        ("height", ctypes.c_uint32),
        ("wall_clock", ctypes.c_uint32),
        ("clock_ns", ctypes.c_uint64),
        ("frames", ctypes.c_uint64),
        ("stops", ctypes.c_uint64),
        ("passed", ctypes.c_uint64),
        ("stop_ns", ctypes.c_uint64),
        ("ticks", ctypes.c_uint64),
        ("mouse_x", ctypes.c_int32),
        ("mouse_y", ctypes.c_int32),
        ("input_count", ctypes.c_uint32),
        ("command_length", ctypes.c_uint32),
        ("inputs", _Input * MAX_INPUTS),
        ("drawn", ctypes.c_char * _SEMAPHORE_BYTES),
        ("go", ctypes.c_char * _SEMAPHORE_BYTES),
        ("telemetry", ctypes.c_double * MAX_TELEMETRY),
        ("event_head", ctypes.c_uint64),
        ("events", ctypes.c_char * EVENT_BYTES),
        ("command", ctypes.c_char * COMMAND_BYTES),
    ]


class _Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


_libc = ctypes.CDLL(None, use_errno=True)


class Gate:
    """One engine's shared memory, seen from the host."""

    def __init__(self, size: tuple[int, int], wall_clock: bool) -> None:
        """`wall_clock`: the engine takes its game time from `gettimeofday`."""
        height, width = size
        self.bytes = ctypes.sizeof(_Layout) + height * width * 3
        self.descriptor = os.memfd_create("actswm-gate", 0)
        os.ftruncate(self.descriptor, self.bytes)
        self._memory = mmap.mmap(self.descriptor, self.bytes)
        self._fields = _Layout.from_buffer(self._memory)
        self._fields.width, self._fields.height = width, height
        self._fields.wall_clock = wall_clock
        self._drawn = ctypes.addressof(self._fields) + _Layout.drawn.offset
        self._go = ctypes.addressof(self._fields) + _Layout.go.offset
        for semaphore in (self._drawn, self._go):
            _libc.sem_init(ctypes.c_void_p(semaphore), 1, 0)
        self._pixels: NDArray[np.uint8] = np.frombuffer(
            self._memory, np.uint8, height * width * 3, ctypes.sizeof(_Layout)
        ).reshape(height, width, 3)
        self._telemetry = np.frombuffer(self._memory, np.float64, MAX_TELEMETRY, _Layout.telemetry.offset)
        self._read = 0

    @property
    def environment(self) -> dict[str, str]:
        """What the engine's environment needs; its process must inherit `descriptor`."""
        return {"ACTSWM_GATE_FD": str(self.descriptor), "ACTSWM_GATE_SIZE": str(self.bytes)}

    @property
    def attached(self) -> bool:
        """Is the shim of this very layout in the engine?"""
        return bool(self._fields.layout == ctypes.sizeof(_Layout))

    @property
    def frames(self) -> int:
        return int(self._fields.frames)

    def lock(self) -> None:
        """From the next frame on the engine stops after each."""
        self._fields.lockstep = 1

    def advance(self, nanoseconds: int) -> None:
        """Let the next frame come this much after the last one."""
        self._fields.clock_ns = self._fields.stop_ns + nanoseconds

    @property
    def resting(self) -> bool:
        """Has the engine stopped, and not been told to go on?

        Both numbers live in the shared memory and change by a single store each, so that an exception that a signal
        raises between any two lines here leaves no doubt about what the engine is doing.
        """
        return int(self._fields.stops) > int(self._fields.passed)

    def go(self) -> None:
        """Let the resting engine draw one more frame."""
        self._fields.passed = self._fields.stops
        self.wake()

    def wake(self) -> None:
        """Have the engine look whether it may go on."""
        _libc.sem_post(ctypes.c_void_p(self._go))

    def wait(self, seconds: float) -> bool:
        """Sleep until the engine rests; False when it took longer than `seconds`."""
        end = time.time() + seconds
        deadline = _Timespec(int(end), int(end % 1 * 1e9))
        while not self.resting:
            failed = _libc.sem_timedwait(ctypes.c_void_p(self._drawn), ctypes.byref(deadline))
            if failed and ctypes.get_errno() != errno.EINTR:
                return self.resting
        return True

    def send(self, keys: Iterable[tuple[int, bool]], mouse: tuple[int, int] = (0, 0)) -> None:
        """Input for the next frame, beside what it has already: keys that go down or up, mouse motion in pixels."""
        for key, pressed in keys:
            self._fields.inputs[self._fields.input_count] = _Input(key, pressed)
            self._fields.input_count += 1
        self._fields.mouse_x += mouse[0]
        self._fields.mouse_y += mouse[1]

    def command(self, message: dict[str, Any]) -> None:
        """Give the server's script a command, which it reads at its next tick."""
        data = json.dumps(message).encode()
        if len(data) >= COMMAND_BYTES:
            raise ValueError(f"command of {len(data)} bytes; at most {COMMAND_BYTES - 1} fit")
        start = _Layout.command.offset
        self._memory[start : start + len(data)] = data
        self._fields.command_length = len(data)

    def events(self) -> list[dict[str, Any]]:
        """What the server's script told since the last call."""
        head = int(self._fields.event_head)
        if head == self._read:
            return []
        start = _Layout.events.offset
        ring = self._memory[start : start + EVENT_BYTES]
        begin, end = self._read % EVENT_BYTES, head % EVENT_BYTES
        text = ring[begin:end] if begin < end else ring[begin:] + ring[:end]
        self._read = head
        return [json.loads(line) for line in text.splitlines()]

    def frame(self) -> Frame:
        return self._pixels.copy()

    def telemetry(self) -> list[float]:
        return self._telemetry.tolist()

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
            del self._fields, self._pixels, self._telemetry
            self._memory.close()
