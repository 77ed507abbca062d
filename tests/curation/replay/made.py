"""A small made replay."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from actswm.controls import KEYS14
from actswm.formats.replay import Event, Player, Replay, Round, Track


def made_track(slot: int, ticks: int = 400, dead: tuple[int, ...] = (), seed: int = 0) -> Track:
    """Alive but in `dead`; the view wanders, and keys are held for some ticks each."""
    rng = np.random.default_rng((slot, seed))
    tick = np.arange(1, ticks + 1)
    pressed = np.repeat(rng.random((ticks // 8 + 1, KEYS14.size)) < 0.3, 8, axis=0)[:ticks]
    pressed[:, 10:] = False
    speed = np.repeat(rng.normal(0, 2, (ticks // 10 + 1, 2)), 10, axis=0)[:ticks].cumsum(0).astype(np.float32)
    return Track(slot, tick, ~np.isin(tick, dead), speed[:, 0] % 360, np.clip(speed[:, 1], -80, 80), pressed)


def made_replay(path: Path = Path("made.dem"), ticks: int = 400) -> Replay:
    """Two players, two rounds; the second player dies in the first round at tick 120."""
    half = ticks // 2
    return Replay(
        path=path,
        game="made",
        map="square",
        build="1",
        tick_rate=32.0,
        first_tick=1,
        last_tick=ticks,
        players=(Player("Ann", 1, 0, 77, "T"), Player("Böb/..", 2, 1, 0, "CT")),
        rounds=(Round(1, 1, half, 33), Round(2, half + 1, ticks, half + 33)),
        events=(Event(119, "shot", 1), Event(120, "death", 2, 1, "rifle"), Event(120, "kill", 1, 2, "rifle")),
        tracks={1: made_track(1, ticks), 2: made_track(2, ticks, tuple(range(120, half + 1)))},
    )
