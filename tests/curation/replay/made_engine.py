"""A made engine: a panorama that turns with the player's view, exact by count, or grabbed in uneven time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from actswm.curation.replay.marker import draw_marker
from actswm.formats.replay import STRIP_ROWS, Capture, Replay, Window

HEIGHT, WIDTH = 48, 114


@cache
def panorama() -> np.ndarray:
    """Smooth noise over the whole circle, three times the height."""
    import cv2

    rng = np.random.default_rng(5)
    coarse = rng.integers(0, 255, (3 * HEIGHT // 4, 90), dtype=np.uint8)
    wide = np.concatenate([coarse, coarse], 1)
    return cv2.resize(wide, (2 * 358, 3 * HEIGHT), interpolation=cv2.INTER_CUBIC)


def view(replay: Replay, slot: int, tick: float, strip_rows: int = 0) -> np.ndarray:
    """What the player sees: 57 pixels a radian."""
    track = replay.tracks[slot]
    yaw = np.interp(tick, track.tick, np.degrees(np.unwrap(np.radians(track.yaw))))
    pitch = np.interp(tick, track.tick, track.pitch)
    picture = panorama()
    where = -np.radians(yaw) * WIDTH / 2 % 358
    x, part = int(where), where % 1
    picture = (1 - part) * picture + part * np.roll(picture, -1, 1)  # between two columns
    y = int(np.clip(HEIGHT + np.radians(pitch) * WIDTH / 2, 0, 2 * HEIGHT))
    frame = np.zeros((HEIGHT + 2 * strip_rows, WIDTH, 3), np.uint8)
    frame[strip_rows : strip_rows + HEIGHT] = picture[y : y + HEIGHT, x : x + WIDTH, None]
    return frame


@dataclass
class MadeEngine:
    """Counts its launches in `notes`, and dies in those that are listed."""

    replay: Replay
    notes: Path
    dies: tuple[int, ...] = ()

    def start(self) -> None:
        self.notes.mkdir(parents=True, exist_ok=True)
        self.launch = len(list(self.notes.iterdir()))
        (self.notes / str(self.launch)).touch()

    def seek(self, tick: int) -> None: ...

    def spectate(self, slot: int) -> None: ...

    def strip_hud(self) -> None: ...

    def capture(self, window: Window) -> Capture:
        if self.launch in self.dies:
            raise RuntimeError("the engine was killed by SIGKILL")
        tick = np.arange(window.start, window.end + 1)
        return Capture([view(self.replay, window.slot, one) for one in tick], tick / 32.0, tick)

    def stop(self) -> None: ...


def grabbed(
    replay: Replay, window: Window, *, marker: bool = True, seed: int = 0, fps: float = 45.0
) -> tuple[Capture, np.ndarray]:
    """A real-time capture with stalls of game and grabber, and the tick that each frame shows."""
    rng = np.random.default_rng(seed)
    rate = replay.tick_rate or 1.0
    lasts = (window.end - window.start + 12) / rate
    # The game: a picture shows the moment at which it was begun, and is up when it is finished.
    takes = np.where(rng.random(2000) < 0.06, rng.uniform(0.05, 0.12, 2000), rng.uniform(0.012, 0.03, 2000))
    finished = np.cumsum(takes)
    begun = finished - takes
    # The grabber, which is away now and then.
    waits = np.where(rng.random(2000) < 0.03, rng.uniform(0.05, 0.25, 2000), 1 / fps)
    times = np.cumsum(waits) + 0.2
    times = times[times < lasts]
    shown = window.start - 8 + rate * begun[np.searchsorted(finished, times) - 1]
    frames = [view(replay, window.slot, one, STRIP_ROWS) for one in shown]
    tick = np.floor(shown).astype(np.int64)
    for frame, one in zip(frames, tick.tolist()):
        if marker:
            draw_marker(frame, max(1000 + 10 * one, 0), STRIP_ROWS)
    return Capture(frames, times, None, STRIP_ROWS, marker), tick


def with_positions(replay: Replay) -> Replay:
    from dataclasses import replace

    ticks = np.arange(replay.first_tick, replay.last_tick + 1)
    return replace(replay, positions=np.column_stack([1000 + 10 * ticks, ticks]))
