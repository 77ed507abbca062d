"""Steps at a fixed rate out of frames that come unevenly."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..formats.video import MS, NS
from .frames import runs


def require_rate(fps: float, gap_ns: int) -> None:
    if NS / fps > gap_ns:
        raise UserError(
            f"--fps {fps:g}: steps of over {gap_ns // MS} ms count as gaps; use {math.ceil(NS / gap_ns)} or more"
        )


def resampled(
    pts_ns: NDArray[np.int64], fps: float, gap_ns: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Times of steps, `fps` a second, and for each the time of the frame nearest to it.

    Each run of frames without a gap has steps of its own, from its first frame to its last: across a gap nothing is
    known. Frames whose time repeats or runs backwards show nothing new and are left out.
    """
    forward = np.flatnonzero(pts_ns > np.maximum.accumulate(np.append(np.int64(-1) << 62, pts_ns[:-1])))
    steps, shown = [], []
    for rows in runs(pts_ns, forward, gap_ns):
        times = pts_ns[rows]
        count = int((int(times[-1]) - int(times[0])) * fps / NS) + 1
        grid = times[0] + np.rint(np.arange(count) * (NS / fps)).astype(np.int64)
        middles = (times[:-1] + times[1:]) // 2
        steps.append(grid)
        shown.append(times[np.searchsorted(middles, grid, side="left")])
    return np.concatenate(steps), np.concatenate(shown)
