"""Gymnasium spaces of a game: what a frame and a raw action look like."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from numbers import Integral

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from ..controls import Vocabulary
from ..errors import UserError

MAX_DEGREES = 180.0
"""Bound of a continuous (camera) control in one raw step."""


def frame_size(size: int | tuple[int, int]) -> tuple[int, int]:
    """(height, width); one number is a square."""
    sides = (size, size) if isinstance(size, Integral) else tuple(size) if isinstance(size, Iterable) else ()
    if len(sides) != 2 or not all(isinstance(side, Integral) for side in sides):
        raise UserError(f"size {size!r} is no frame size; use (height, width) or one number")
    return int(sides[0]), int(sides[1])


def frame_space(size: tuple[int, int]) -> Box:
    """RGB frames of `size` = (height, width)."""
    height, width = size
    if height < 8 or width < 8:
        raise UserError(f"frame size {height}x{width} is too small; use at least 8x8")
    return Box(0, 255, (height, width, 3), np.uint8)


@cache
def _bounds(vocabulary: Vocabulary) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    high = np.where(vocabulary.binary, 1.0, MAX_DEGREES).astype(np.float32)
    return np.where(vocabulary.binary, 0.0, -MAX_DEGREES).astype(np.float32), high


def action_space(vocabulary: Vocabulary) -> Box:
    """Raw actions: binary controls in [0, 1] (pressed above 0.5), continuous ones in degrees."""
    low, high = _bounds(vocabulary)
    return Box(low, high, dtype=np.float32)


def played_actions(vocabulary: Vocabulary, actions: NDArray[np.floating], *batch: int) -> NDArray[np.float32]:
    """(*batch, A) raw actions inside the space: beyond its bounds they are clipped, as a stick at its stop."""
    values, shape = np.asarray(actions, np.float32), (*batch, vocabulary.size)
    if values.shape != shape:
        raise UserError(f"an action of {vocabulary.name} has the shape {shape}, not {values.shape}")
    if np.isnan(values).any():
        raise UserError(f"an action of {vocabulary.name} is not a number in every control")
    return np.clip(values, *_bounds(vocabulary))
