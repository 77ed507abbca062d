"""What rendering needs of a game that plays its own replays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...formats.replay import Capture, Replay, Window


class ReplayEngine(Protocol):
    """One launch shows one window: start, seek, spectate, strip the HUD, capture, stop.

    A failure that another launch may mend is a RuntimeError or an OSError; `stop` may be called at any time, and again.
    """

    def start(self) -> None: ...

    def seek(self, tick: int) -> None: ...

    def spectate(self, slot: int) -> None: ...

    def strip_hud(self) -> None: ...

    def capture(self, window: Window) -> Capture: ...

    def stop(self) -> None: ...


OpenEngine = Callable[[Replay], ReplayEngine]
"""Makes an engine for a replay; it goes to other processes, so it is a plain function, class or `partial`."""


def show(engine: ReplayEngine, window: Window) -> Capture:
    """Algorithm 3's loop body up to the capture."""
    try:
        engine.start()
        engine.seek(window.start)
        engine.spectate(window.slot)
        engine.strip_hud()
        return engine.capture(window)
    finally:
        engine.stop()
