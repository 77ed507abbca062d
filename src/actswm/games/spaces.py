"""Gymnasium spaces of a game: what a frame and a raw action look like."""

from __future__ import annotations

import numpy as np
from gymnasium.spaces import Box

from ..controls import Vocabulary
from ..errors import UserError

MAX_DEGREES = 180.0
"""Bound of a continuous (camera) control in one raw step."""


def frame_space(size: tuple[int, int]) -> Box:
    """RGB frames of `size` = (height, width)."""
    height, width = size
    if height < 8 or width < 8:
        raise UserError(f"frame size {height}x{width} is too small; use at least 8x8")
    return Box(0, 255, (height, width, 3), np.uint8)


def action_space(vocabulary: Vocabulary) -> Box:
    """Raw actions: binary controls in [0, 1] (pressed above 0.5), continuous ones in degrees."""
    high = np.where(vocabulary.binary, 1.0, MAX_DEGREES).astype(np.float32)
    low = np.where(vocabulary.binary, 0.0, -MAX_DEGREES).astype(np.float32)
    return Box(low, high, dtype=np.float32)
