"""How the picture moves from one captured frame to the next: one shift for all of it, and sudden changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formats.replay import Capture
from .picture import game_part

WIDTH = 160
"""Pictures are made no wider than this first."""
UPPER = 0.6
"""Share of the rows that is looked at: the weapon below does not turn with the view."""
POINTS, LEAST_POINTS = 60, 6


@dataclass(frozen=True)
class Motion:
    """Entry i is between the frames `before[i]` and `after[i]`, which show different pictures."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    shift: NDArray[np.float64]
    """(n, 2) pixels that the picture moved to the right and down."""
    weight: NDArray[np.float64]
    """How far each shift can be trusted, 0 to 1."""
    burst: NDArray[np.float64]
    """How sudden the change is against its neighbours, -1 to 3."""
    pixels_per_radian: float


def measure_motion(capture: Capture, repeated: NDArray[np.bool_]) -> Motion:
    shown = np.flatnonzero(~repeated)
    shifts, weights, changes = [], [], []
    before: NDArray[np.uint8] | None = None
    width = 0
    for index in shown:
        grey = _grey(game_part(capture.frames[int(index)], capture.strip_rows))
        width = grey.shape[1]
        if before is not None:
            shift, weight = _shift(before, grey)
            shifts.append(shift)
            weights.append(weight)
            changes.append(float(np.abs(grey.astype(np.float32) - before).mean()))
        before = grey
    return Motion(
        shown[:-1],
        shown[1:],
        np.array(shifts, np.float64).reshape(-1, 2),
        np.array(weights, np.float64),
        _burst(np.array(changes)),
        width / 2 / np.tan(np.radians(capture.fov_degrees) / 2),
    )


def _grey(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Small, without the lowest rows, and with contrast where it is dark."""
    import cv2

    scale = min(1.0, WIDTH / picture.shape[1])
    size = (round(picture.shape[1] * scale), round(picture.shape[0] * scale))
    grey = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), size, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.equalizeHist(np.ascontiguousarray(grey[: round(len(grey) * UPPER)])))


def _shift(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> tuple[tuple[float, float], float]:
    """The median way of points that are found again, there and back, and how far it can be trusted (0 to 1).

    What walking does to the picture goes both ways from the middle, and has little of a median.
    """
    import cv2

    nothing = ((0.0, 0.0), 0.0)
    points: Any = cv2.goodFeaturesToTrack(before, POINTS, 0.02, 4)
    if points is None:
        return nothing
    follow: Any = partial(cv2.calcOpticalFlowPyrLK, nextPts=None, winSize=(11, 11), maxLevel=3)
    there, found, _ = follow(before, after, points)
    back, again, _ = follow(after, before, there)
    good = (found.ravel() > 0) & (again.ravel() > 0) & (np.abs(back - points).max((1, 2)) < 0.5)
    if good.sum() < LEAST_POINTS:
        return nothing
    ways = (there - points)[good, 0]
    middle = np.median(ways, axis=0)
    spread = float(np.median(np.abs(ways - middle)))
    return (float(middle[0]), float(middle[1])), 1 / (1 + spread)


def _burst(change: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each change against the median of its neighbourhood, in units of the usual spread."""
    if not len(change):
        return change
    padded = np.pad(change, 4, mode="edge")
    around = np.median(np.lib.stride_tricks.sliding_window_view(padded, 9), axis=1)
    excess = change - around
    return np.clip(excess / (np.median(np.abs(excess)) + 1e-6) / 2, -1, 3)
