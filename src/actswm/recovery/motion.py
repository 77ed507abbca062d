"""What moved between two frames: dense optical flow on a coarse grid, and how the frame looks from afar.

A network that is given pixels has to discover motion first; flow hands it over, from a hundredth of the labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ..errors import UserError

Array = NDArray[np.float32]
LOOKS = 3
"""Figures of a step's look: change of brightness, strength of edges, contrast."""
_FINEST = 1
"""DIS stops at half the resolution: as telling as the whole for a coarse grid, and four times as fast."""
_FASTEST = 30.0
_SMALLEST = 32


@dataclass(frozen=True)
class MotionGrid:
    """Frames of `image_size` pixels; flow on `cells` x `cells`, colours on `thumb` x `thumb`."""

    image_size: int = 64
    cells: int = 8
    thumb: int = 4

    def __post_init__(self) -> None:
        if self.image_size < _SMALLEST:
            raise UserError(f"optical flow needs frames of at least {_SMALLEST} px, not {self.image_size}")

    @property
    def flow_size(self) -> int:
        return self.cells * self.cells * 2

    @property
    def thumb_size(self) -> int:
        return self.thumb * self.thumb * 3

    @property
    def size(self) -> int:
        """Figures of a raw step: flow, the colours it began with, how these changed, and the look."""
        return self.flow_size + 2 * self.thumb_size + LOOKS


class MotionMeter:
    """Measures a stream of frames; keeps the last one, so that a video may come in pieces."""

    def __init__(self, grid: MotionGrid) -> None:
        self.grid = grid
        self._flow = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
        self._flow.setFinestScale(_FINEST)
        self._last: tuple[NDArray[np.uint8], NDArray[np.float32]] | None = None

    def measure(self, frames: Iterable[NDArray[np.uint8]]) -> Array:
        """RGB frames (n, h, w, 3) -> (n, size), each against the frame before it; the very first gives no row."""
        rows = []
        for frame in frames:
            gray, thumb = self._seen(frame)
            if self._last is not None:
                rows.append(self._step(*self._last, gray, thumb))
            self._last = (gray, thumb)
        return np.stack(rows) if rows else np.zeros((0, self.grid.size), np.float32)

    def _seen(self, frame: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], Array]:
        grid = self.grid
        if frame.shape[:2] != (grid.image_size, grid.image_size):
            frame = cv2.resize(frame, (grid.image_size, grid.image_size), interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
        thumb = cv2.resize(frame, (grid.thumb, grid.thumb), interpolation=cv2.INTER_AREA)
        return cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), thumb.astype(np.float32).ravel() / 64  # type: ignore[return-value]

    def _step(self, before: NDArray[np.uint8], old: Array, after: NDArray[np.uint8], new: Array) -> Array:
        flow = self._flow.calc(before, after, None)  # type: ignore[call-overload]
        coarse = cv2.resize(flow, (self.grid.cells, self.grid.cells), interpolation=cv2.INTER_AREA)
        change = cv2.mean(cv2.absdiff(before, after))[0]
        edges = cv2.mean(cv2.absdiff(after[:, 1:], after[:, :-1]))[0]
        contrast = cv2.meanStdDev(after)[1][0, 0]
        look = np.array([change, edges, contrast], np.float32)
        return np.concatenate([coarse.clip(-_FASTEST, _FASTEST).ravel(), old, new - old, look])


def mirror(grid: MotionGrid) -> tuple[NDArray[np.int64], Array]:
    """The order and the signs (size,) that turn a step's figures into those of the mirrored video."""

    def flipped(side: int, planes: int) -> NDArray[np.int64]:
        return np.arange(side * side * planes).reshape(side, side, planes)[:, ::-1].ravel()

    parts = [flipped(grid.cells, 2), flipped(grid.thumb, 3), flipped(grid.thumb, 3), np.arange(LOOKS)]
    begins = np.cumsum([0, *map(len, parts[:-1])])
    signs = np.ones(grid.size, np.float32)
    signs[: grid.flow_size : 2] = -1
    return np.concatenate([part + begin for part, begin in zip(parts, begins)]), signs
