"""KEYS14 controls of captured frames from a demo's buttons and view angles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...controls import KEYS14
from ...formats.replay import Track

TURN_DEGREES = 0.25
"""Turn and Look are pressed where the view changes by more than this from one frame to the next."""


def frame_controls(
    track: Track, tick: NDArray[np.int64], step: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """(n, 14) actions of frames that show `tick` and whose successors are `step` ticks later, and where they are known.

    The action of a frame is what leads to the next one: a button counts if it was down in any tick of the way, the
    camera's controls follow from the view angles at both ends.
    """
    action = np.zeros((len(tick), KEYS14.size), np.float32)
    known = np.zeros(len(tick), bool)
    if track.pressed is None or not len(track):
        return action, known
    after = np.maximum(np.round(tick + step).astype(np.int64), tick + 1)
    first = np.searchsorted(track.tick, tick, side="right")
    last = np.searchsorted(track.tick, after, side="right")
    here = np.clip(first - 1, 0, None)
    there = np.clip(last - 1, 0, None)
    known = (tick >= track.tick[0]) & (after <= track.tick[-1]) & (last > first)
    for row in np.flatnonzero(known):
        action[row] = track.pressed[first[row] : last[row]].any(0)
    if not track.camera_keys:
        yaw = _wrap(track.yaw[there] - track.yaw[here])
        pitch = track.pitch[there] - track.pitch[here]
        for control, change in (("Turn_L", yaw), ("Turn_R", -yaw), ("Look_U", -pitch), ("Look_D", pitch)):
            action[:, KEYS14.index(control)] = known & (change > TURN_DEGREES)
    return action, known


def _wrap(degrees: NDArray[np.float32]) -> NDArray[np.float32]:
    return (degrees + 180) % 360 - 180
