"""OpenArena as a replay engine: the stock game plays its own demo, in lockstep or in real time.

In lockstep one frame is drawn per tick, and the file position tells the tick exactly. In real time the engine runs as
it does for anybody, and a screen grabber takes what it happens to show.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable
from typing import Literal

import numpy as np

from ...errors import UserError
from ...formats.replay import STRIP_ROWS, Capture, Replay, Window
from ..guard import EngineDied
from ..lockstep import Engine
from .client import STEP_NS, _settings, openarena_program
from .demos import DEMO_NAME, SUFFIX
from .grabber import Grabber
from .replay_board import Board

Mode = Literal["lockstep", "realtime"]
GRAB_FPS = 60.0
SEEK_MS = 200
"""Game time of a frame that nobody looks at."""
BEFORE_S = 3.0
"""Real time: how long before a window seeking ends; a machine under load overshoots."""
STALLED_S = 60.0
FAST, SLOW = 8, 0.02
"""Real time: speeds of seeking, and of waiting at the demo's begin."""


class OpenArenaReplay:
    """A `ReplayEngine`. `marker` draws the position into the strips above and below the picture."""

    def __init__(
        self,
        replay: Replay,
        size: tuple[int, int] = (128, 128),
        *,
        mode: Mode = "lockstep",
        marker: bool = True,
        keep_log: bool = False,
    ) -> None:
        if replay.positions is None or replay.tick_rate is None:
            raise UserError(f"{replay.path}: is not a demo of OpenArena")
        self.replay, self.mode, self.marker = replay, mode, marker
        self.size = (size[0] + 2 * STRIP_ROWS, size[1])
        self._ends, self._ticks = replay.positions.T
        self._keep_log = keep_log
        self._step_ns = round(1e9 / replay.tick_rate)
        self._engine: Engine | None = None

    def start(self) -> None:
        """Boot, and stand at the demo's first tick."""
        program = openarena_program()
        self._engine = engine = Engine(f"replay-{self.replay.map}", self.size, wall_clock=True)
        self.board = Board(engine.folder / "board", self.size, marker=self.marker, keep_log=self._keep_log)
        home = engine.folder / ".openarena" / "baseoa"
        (home / "demos").mkdir(parents=True)
        shutil.copyfile(self.replay.path, home / "demos" / f"{DEMO_NAME}{SUFFIX}")
        (home / "autoexec.cfg").write_text(_settings(self.size))
        engine.start(
            [program], {"SDL_AUDIODRIVER": "dummy", "SDL_VIDEODRIVER": "x11", **self.board.environment}
        )
        engine.await_boot(lambda: self.board.frames > 5)
        if not self.board.attached:
            raise EngineDied(f"{engine.name}: the replay library is not in the engine")
        self._pipe = os.open(home / "commands", os.O_WRONLY | os.O_NONBLOCK)
        if self.mode == "lockstep":
            engine.lock(STEP_NS)
            self._command(f"demo {DEMO_NAME}")
            self._until(lambda: self.tick is not None, lambda: engine.step(self._step_ns))
        else:
            self._speed(SLOW, 20)
            self._command(f"demo {DEMO_NAME}")
            self._until(lambda: self.tick is not None, lambda: time.sleep(0.005))

    @property
    def tick(self) -> int | None:
        """The tick that the last frame shows; None before the demo's first."""
        return self.tick_at(self.board.position)

    def seek(self, tick: int) -> None:
        """Go on until the last frame before `tick`: demos of this engine cannot be entered in the middle."""
        here = self._here()
        if here > tick:
            raise UserError(f"{self.replay.path}: tick {tick} is over; start the engine anew to go back")
        if self.mode == "realtime":
            goal = tick - round(BEFORE_S * (self.replay.tick_rate or 0))
            if here < goal:
                self._speed(FAST, 125)
                self._until(lambda: not 0 <= self._here() < goal, lambda: time.sleep(0.002))
                self._speed(SLOW, 20)
            return
        while (left := tick - 1 - self._here()) > 0:
            stride = min(left * self._step_ns, SEEK_MS * 1_000_000 // self._step_ns * self._step_ns)
            self._running().step(stride)

    def spectate(self, slot: int) -> None:
        """A demo of this engine shows its recorder, and whom it followed."""
        if slot not in self.replay.tracks:
            raise UserError(f"{self.replay.path}: shows no player in slot {slot}")

    def strip_hud(self) -> None:
        self._command("cg_draw2D 0; cg_drawCrosshair 0; cg_drawGun 1; con_notifytime 0")

    def capture(self, window: Window) -> Capture:
        return (
            self._capture_in_real_time(window) if self.mode == "realtime" else self._capture_stepwise(window)
        )

    def stop(self) -> None:
        """May be called again."""
        if self._engine is not None:
            with contextlib.suppress(AttributeError, OSError):
                os.close(self._pipe)
                del self._pipe
            self._engine.close()
            self.board.close()
            self._engine = None

    def _capture_stepwise(self, window: Window) -> Capture:
        engine, frames, ticks = self._running(), [], []
        while 0 <= self._here() < window.start:
            engine.step(self._step_ns)
        while 0 <= self._here() <= window.end:
            frames.append(engine.gate.frame())
            ticks.append(self._here())
            if ticks[-1] == window.end:
                break
            engine.step(self._step_ns)
        tick = np.array(ticks, np.int64)
        return Capture(frames, tick / (self.replay.tick_rate or 1), tick, STRIP_ROWS, self.marker)

    def _capture_in_real_time(self, window: Window) -> Capture:
        self._speed(1, 125)
        grabber = Grabber(self._running().display.name, self.size, GRAB_FPS)
        try:
            self._until(lambda: not 0 <= self._here() <= window.end, lambda: time.sleep(0.002))
        finally:
            grabber.stop()
        frames, times = list(grabber.frames), np.array(grabber.times[: len(grabber.frames)])
        return Capture(frames, times, None, STRIP_ROWS, self.marker)

    def tick_at(self, position: int) -> int | None:
        """The tick that a frame shows when so many bytes of the demo have been read."""
        row = int(np.searchsorted(self._ends, position, side="right")) - 1
        return int(self._ticks[row]) if row >= 0 else None

    def _here(self) -> int:
        """-1 before the demo's first tick and when it is over: the engine closes it as soon as it has read the last."""
        tick = self.tick
        return -1 if tick is None else tick

    def _until(self, done: Callable[[], bool], go_on: Callable[[], None]) -> None:
        end, seen = time.monotonic() + STALLED_S, -1
        while not done():
            go_on()
            self._running().check()
            if self.board.frames != seen:
                seen, end = self.board.frames, time.monotonic() + STALLED_S
            if time.monotonic() > end:
                raise EngineDied(f"{self._running().name}: the engine shows nothing new; try again")

    def _speed(self, factor: float, fps: int) -> None:
        self._command(f"timescale {factor}; com_maxfps {fps}")

    def _command(self, text: str) -> None:
        os.write(self._pipe, f"{text}\n".encode())

    def _running(self) -> Engine:
        if self._engine is None:
            raise EngineDied(f"{self.replay.path}: the engine is not running; start it first")
        return self._engine
