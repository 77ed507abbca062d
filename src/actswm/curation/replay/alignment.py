"""FrameEventAlign: which tick does each captured frame show?

Deterministic captures know by count. Real-time ones read the marker. Without one, `fitting` finds the clock's
offset and rate in the pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...formats.replay import Capture, Replay, Window
from .fitting import fit_clock
from .marker import read_marker
from .picture import game_part

Method = Literal["counted", "marker", "fitted"]
UNKNOWN = -1


@dataclass(frozen=True)
class Alignment:
    """One entry per captured frame."""

    method: Method
    tick: NDArray[np.int64]
    """UNKNOWN where a frame shows none for sure."""
    residual: NDArray[np.float32]
    """Ticks between what the frame shows and what an even clock would show; NaN where the tick is unknown."""
    valid: NDArray[np.bool_]
    repeated: NDArray[np.bool_]
    """The same picture as the frame before."""
    dropped: NDArray[np.int64]
    """Ticks between the frame before and this one that no frame shows."""


def align(capture: Capture, replay: Replay, window: Window) -> Alignment:
    repeated = repeated_frames(capture)
    if capture.tick is not None:
        tick = capture.tick.astype(np.int64)
        return _told("counted", capture, tick, tick != UNKNOWN, repeated, replay)
    if capture.marked:
        tick = marked_ticks(capture, replay)
        return _told("marker", capture, tick, tick != UNKNOWN, repeated, replay)
    clock = fit_clock(capture, replay, window, repeated)
    return _told("fitted", capture, clock.tick, clock.valid, repeated, replay)


def marked_ticks(capture: Capture, replay: Replay) -> NDArray[np.int64]:
    assert replay.positions is not None
    known = dict(replay.positions.tolist())
    codes = (read_marker(frame, capture.strip_rows) for frame in capture.frames)
    return np.array([known.get(code, UNKNOWN) for code in codes], np.int64)


def repeated_frames(capture: Capture) -> NDArray[np.bool_]:
    """Where a frame's picture is, to the last bit, that of the frame before."""
    repeated = np.zeros(len(capture.frames), bool)
    before: NDArray[np.uint8] | None = None
    for index, frame in enumerate(capture.frames):
        picture = game_part(frame, capture.strip_rows)
        repeated[index] = before is not None and np.array_equal(picture, before)
        before = picture
    return repeated


def _told(
    method: Method,
    capture: Capture,
    tick: NDArray[np.int64],
    valid: NDArray[np.bool_],
    repeated: NDArray[np.bool_],
    replay: Replay,
) -> Alignment:
    residual = np.full(len(tick), np.nan, np.float32)
    if valid.any():
        even = capture.time_s * (replay.tick_rate or 0)
        late = tick - even
        residual[valid] = (late - np.median(late[valid]))[valid]
    dropped = np.zeros(len(tick), np.int64)
    shown = np.flatnonzero(valid)
    dropped[shown[1:]] = np.maximum(np.diff(tick[shown]) - 1, 0)
    return Alignment(method, np.where(valid, tick, UNKNOWN), residual, valid, repeated, dropped)
