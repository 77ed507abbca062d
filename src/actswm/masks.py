"""Observation masks: parts of the picture that say nothing about the goal, painted over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .errors import UserError

Box = tuple[float, float, float, float]
"""Top, bottom, left, right as shares of height and width."""
MASKS: dict[str, tuple[Box, ...]] = {
    "none": (),
    "mining": ((0.55, 1.0, 0.62, 1.0), (0.88, 1.0, 0.25, 0.75)),
}
"""`mining`: the hand with its tool at the lower right, and the hotbar."""


def apply_mask(name: str, frames: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Frames (..., h, w, 3) with the mask's boxes in each frame's mean colour."""
    if name not in MASKS:
        raise UserError(f"unknown mask {name!r}; known: {', '.join(MASKS)}")
    height, width = frames.shape[-3:-1]
    masked = frames.copy()
    for top, bottom, left, right in MASKS[name]:
        rows = slice(round(top * height), round(bottom * height))
        columns = slice(round(left * width), round(right * width))
        masked[..., rows, columns, :] = frames.mean((-3, -2), keepdims=True).round()
    return masked
