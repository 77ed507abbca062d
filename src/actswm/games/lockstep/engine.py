"""An unmodified game engine that draws one frame at a time on our word."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ..guard import EngineDied, Guard
from .build import shim_library
from .display import Display
from .gate import Gate

FRAME_SECONDS = 60.0
"""A frame that takes longer means that the engine hangs."""
BOOT_SECONDS = 120.0
LOG_NAME = "engine.log"
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Engine:
    """A private folder (`folder`), a screen, shared memory (`gate`), and from `start` on the engine's process.

    The guard removes all of it if this process dies; `close` does so otherwise.
    """

    def __init__(self, name: str, size: tuple[int, int], *, wall_clock: bool = False) -> None:
        self.name = name
        self.process: subprocess.Popen[bytes] | None = None
        with contextlib.ExitStack() as undo:
            self.folder = Path(tempfile.mkdtemp(prefix=f"actswm-{name.replace('/', '-')}-"))
            undo.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self._guard = Guard(self.folder)
            undo.callback(self._guard.release)
            self.gate = Gate(size, wall_clock)
            undo.callback(self.gate.close)
            self.display = Display(size, self.folder)
            undo.pop_all()
        self._entrust("display", self.display.process.pid)
        (self.folder / "leftovers").write_text("".join(f"{path}\n" for path in self.display.leftovers))

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the engine; it runs freely until `lock`."""
        self.log = self.folder / LOG_NAME
        inherited = {
            key: value for key, value in os.environ.items() if key not in ("XAUTHORITY", "LD_PRELOAD")
        }
        with self.log.open("ab") as log:  # appending, so that it can be truncated
            self.process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={
                    **inherited,
                    "HOME": str(self.folder),
                    "DISPLAY": self.display.name,
                    "LD_PRELOAD": str(shim_library()),
                    "LIBGL_ALWAYS_SOFTWARE": "1",
                    "LP_NUM_THREADS": "1",
                    **self.gate.environment,
                    **environment,
                },
                pass_fds=[self.gate.descriptor],
                process_group=0,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._entrust("engine", self.process.pid)

    def await_boot(self, ready: Callable[[], bool]) -> None:
        end = time.monotonic() + BOOT_SECONDS
        while not ready():
            self.check()
            if time.monotonic() > end:
                raise EngineDied(
                    f"{self.name}: the engine did not start in {BOOT_SECONDS:.0f} s; {self._last_words()}"
                )
            time.sleep(0.02)

    def lock(self, nanoseconds: int) -> None:
        """From now on the engine stops after every frame, the first of them `nanoseconds` later."""
        if not self.gate.attached:
            raise RuntimeError(f"{self.name}: the lockstep shim is not in the engine")
        self.gate.lock()
        self.gate.advance(nanoseconds)  # an engine that waits for time to pass would never draw
        self._await_frame()

    def step(
        self, nanoseconds: int, keys: Iterable[tuple[int, bool]] = (), mouse: tuple[int, int] = (0, 0)
    ) -> None:
        """Advance game time, and have the next frame drawn with this input."""
        self._await_frame()  # at rest, unless a signal interrupted the last step
        self.gate.send(keys, mouse)
        self.gate.advance(nanoseconds)
        self.gate.go()
        self._await_frame()

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def check(self) -> None:
        """Raise `EngineDied` if the engine is gone."""
        if self.process is None or self.alive:
            return
        code = self.process.returncode
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        raise EngineDied(
            f"{self.name}: the engine {how}; call reset() to start it again; {self._last_words()}"
        )

    @property
    def resident_bytes(self) -> int:
        assert self.process is not None
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * PAGE_BYTES

    def close(self) -> None:
        """End the engine and remove everything it had. May be called again."""
        if self.process is not None:
            self.process.kill()  # it has nothing worth saving
            self.process.wait()
        self.display.close()
        self.gate.close()
        self._guard.release()

    def _await_frame(self) -> None:
        end = time.monotonic() + FRAME_SECONDS
        while not self.gate.wait(0.2):
            self.check()
            if time.monotonic() > end:
                raise EngineDied(f"{self.name}: the engine hangs; call reset() to start it again")
            self.gate.wake()  # a signal may have come between a step's permission and its wake-up

    def _entrust(self, role: str, pid: int) -> None:
        (self.folder / f"{role}.pid").write_text(str(pid))

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = self.log.read_text(errors="replace").strip().splitlines()
            if lines:
                errors = [line for line in lines if "ERROR" in line]
                return f"its last words were: {(errors or lines)[-1][:200]}"
        return "it said nothing"
