"""The clock of a capture without a marker, fitted to what shows in the pictures.

`tick = rate * time + offset` for the whole capture. A turn of the view moves the picture by a known number of pixels,
a shot or the player's death changes it at once: offset and rate are those that explain most of it. The loss of a
frame is bounded, so that walking, effects and other players do not pull at the clock. Repeated frames show what the
first of them showed. A picture that comes up after a stall may be of any moment of it: such frames are not valid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...formats.replay import Capture, Replay, Track, Window
from .motion import Motion, measure_motion

SLACK_S = 1.0
"""A capture may begin and end this much inside its window."""
RATES = np.linspace(0.99, 1.01, 9)
"""Against the nominal tick rate."""
LAG_S = 0.15
MOST_PIXELS = 8.0
"""A shift that is more than this off is just wrong, however much."""
EVENT_WEIGHT = 0.5
RATE_COST = 50.0
"""Pixels that a clock must gain for a rate that is twice the nominal one: clocks are good, as a rule."""
LEAST_S = 3.0
"""Seconds of followed motion without which there is nothing to fit."""
LEAST_GAIN = 0.11
"""Share of the typical loss that the best clock must take away; else nothing shows in the pictures.

Against another match's demo the best clock takes away 0.03 to 0.08, against its own 0.15 and more (OpenArena, seeds 21
to 26, each against each).
"""
AMBIGUOUS_TICKS, LEAST_LEAD = 3.0, 0.2
"""A clock that is more than so many ticks off must be worse by this share of the gain."""
CUES = ("shot", "death")
STALL_S = 0.5
"""When a picture stays the same for longer, nobody can tell whether the game stands or the player."""
UNSURE_TICKS = 2.5
"""A picture that took so much longer than usual to come up is of an unknown age."""
AWAY_S = 0.06
"""A picture that a grabber finds when it comes back is no older than this, as a rule."""


@dataclass(frozen=True)
class Clock:
    tick: NDArray[np.int64]
    """Per frame; -1 where it is not valid: outside the demo, or of an unknown age."""
    valid: NDArray[np.bool_]
    rate: float
    """Ticks a second."""
    gain: float
    """Share of the typical loss that this clock saves."""


def fit_clock(capture: Capture, replay: Replay, window: Window, repeated: NDArray[np.bool_]) -> Clock:
    """The clock of `capture`; no frame is valid where the pictures do not tell."""
    nominal = replay.tick_rate or 0.0
    count = len(capture.time_s)
    unclear = Clock(np.full(count, -1, np.int64), np.zeros(count, bool), nominal, 0.0)
    track = replay.tracks.get(window.slot)
    if track is None or (~repeated).sum() < 3:
        return unclear
    time_s, sure = drawn_times(capture.time_s, repeated, UNSURE_TICKS / max(nominal, 1e-9))
    time_s = time_s - (time_s[0] + time_s[-1]) / 2  # so that the rate turns around the capture's middle
    half = time_s[-1] * nominal
    slack = SLACK_S * nominal
    first, last = window.end - half - slack, window.start + half + slack
    middles = np.arange(min(first, last), max(first, last) + 0.25, 0.25)
    impulses = [one.tick for one in replay.events if one.slot == window.slot and one.name in CUES]
    loss = _Loss(track, measure_motion(capture, repeated), time_s, sure, np.array(impulses), nominal)
    if loss.trusted_s < LEAST_S:
        return unclear
    table = np.array([[loss(bend * nominal, middle) for middle in middles] for bend in RATES])
    costly = table + RATE_COST * np.abs(RATES - 1)[:, None]
    row, column = np.unravel_index(int(costly.argmin()), table.shape)
    best, typical = float(table[row, column]), float(np.median(table))
    far = np.abs(middles - middles[column]) > AMBIGUOUS_TICKS
    rival = float(table[:, far].min()) if far.any() else typical
    if typical - best < LEAST_GAIN * typical or rival - best < LEAST_LEAD * (typical - best):
        return unclear
    rate, middle = _refine(loss, float(RATES[row]) * nominal, float(middles[column]))
    tick = np.floor(rate * time_s + middle).astype(np.int64)
    valid = sure & (tick >= track.tick[0]) & (tick <= track.tick[-1])
    return Clock(np.where(valid, tick, -1), valid, rate, 1 - best / typical)


class _Loss:
    """How badly `tick = rate * time + middle` explains the measured motion.

    Shifts are added up over LAG_S: when a frame was drawn before it was grabbed is anybody's guess, and over a longer
    way the guess matters less.
    """

    def __init__(
        self,
        track: Track,
        motion: Motion,
        time_s: NDArray[np.float64],
        sure: NDArray[np.bool_],
        impulses: NDArray[np.int64],
        nominal: float,
    ) -> None:
        self.nominal = nominal
        self._ticks = track.tick.astype(np.float64)
        self._yaw = np.unwrap(np.radians(track.yaw.astype(np.float64)))
        self._pitch = np.radians(track.pitch.astype(np.float64))
        self._motion, self._time, self._impulses = motion, time_s, impulses
        frames = np.append(motion.before, motion.after[-1])
        way = np.concatenate([np.zeros((1, 2)), np.cumsum(motion.shift, axis=0)])
        trust = np.concatenate([[0.0], np.cumsum(motion.weight)])
        first = np.arange(len(frames))
        last = np.searchsorted(time_s[frames], time_s[frames] + LAG_S)
        first, last = first[last < len(frames)], last[last < len(frames)]
        self._before, self._after = frames[first], frames[last]
        self._way = way[last] - way[first]
        # A grabber that was away for long has missed the way.
        close = time_s[frames[last]] - time_s[frames[first]] < 2 * LAG_S
        known = sure[self._before] & sure[self._after]
        self._weight = (trust[last] - trust[first]) / (last - first) * (close & known)
        self.trusted_s = float(np.diff(time_s[frames])[first][self._weight > 0].sum())

    def __call__(self, rate: float, middle: float) -> float:
        motion = self._motion
        shown = rate * self._time + middle
        yaw = np.interp(shown, self._ticks, self._yaw)
        pitch = np.interp(shown, self._ticks, self._pitch)
        # To the left and downwards turns the view where the angles grow: the picture moves right and up.
        across = motion.pixels_per_radian * (yaw[self._after] - yaw[self._before])
        down = -motion.pixels_per_radian * (pitch[self._after] - pitch[self._before])
        wrong = np.minimum(np.abs(self._way[:, 0] - across), MOST_PIXELS)
        wrong += np.minimum(np.abs(self._way[:, 1] - down), MOST_PIXELS)
        total = float((wrong * self._weight).sum())
        if len(self._impulses):
            count = np.searchsorted(self._impulses, shown, side="right")
            expected = count[motion.after] > count[motion.before]
            total -= EVENT_WEIGHT * float(motion.burst[expected].sum())
        return total / max(float(self._weight.sum()), 1e-9)


def _refine(loss: _Loss, rate: float, middle: float) -> tuple[float, float]:
    for step, spread in ((0.1, 0.001), (0.03, 0.0003)):
        _, rate, middle = min(
            (loss(bent, middle + shift) + RATE_COST * abs(bent / loss.nominal - 1), bent, middle + shift)
            for bent in rate * (1 + spread * np.arange(-3, 4))
            for shift in step * np.arange(-6, 7)
        )
    return rate, middle


def drawn_times(
    time_s: NDArray[np.float64], repeated: NDArray[np.bool_], unsure_s: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Per frame, about when the game began to draw its picture, and whether that is known to about `unsure_s`.

    A game begins a picture when the one before is up. So it is as old as the first sight of that one; where the
    grabber itself was away in between, the game may have gone on, and half the time, up to a bound, is as good a guess
    as any.
    """
    first = np.flatnonzero(~repeated)
    picture = np.cumsum(~repeated) - 1
    seen = time_s[first]
    away = seen - time_s[np.maximum(first - 1, 0)] > 2 * np.median(np.diff(time_s))
    took = np.diff(seen, prepend=seen[0])
    drawn = seen - np.where(away, np.minimum(took / 2, AWAY_S), took)
    sure = took - np.median(took) < unsure_s
    return drawn[picture], sure[picture] & (time_s - seen[picture] < STALL_S)
