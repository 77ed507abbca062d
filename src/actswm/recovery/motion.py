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
_BINS, _COLOUR_BINS = 8, 6
LOOKS = 1 + _BINS + 3 * _COLOUR_BINS + 9
"""Figures of a step's look: the change of brightness, and what `_look` tells of the frame."""
_LOOK_EVERY = 4
"""Frames that one look stands for: it changes slowly."""
_FINEST = 1
"""DIS stops at half the resolution: as telling as the whole for a coarse grid, and four times as fast."""
_FASTEST = 30.0
_SMALLEST, _LARGEST = 32, 2048


@dataclass(frozen=True)
class MotionGrid:
    """Frames of `image_size` pixels; flow on `cells` x `cells`, colours on `thumb` x `thumb`."""

    image_size: int = 64
    cells: int = 8
    thumb: int = 4

    def __post_init__(self) -> None:
        if not _SMALLEST <= self.image_size <= _LARGEST:
            raise UserError(f"optical flow needs frames of {_SMALLEST} to {_LARGEST} px, not {self.image_size}")

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
        self._look: Array = np.zeros(LOOKS - 1, np.float32)
        self._seen_frames = 0

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
        gray = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)
        if self._seen_frames % _LOOK_EVERY == 0:
            self._look = _look(frame, gray)  # type: ignore[arg-type]
        self._seen_frames += 1
        return gray, thumb.astype(np.float32).ravel() / 64  # type: ignore[return-value]

    def _step(self, before: NDArray[np.uint8], old: Array, after: NDArray[np.uint8], new: Array) -> Array:
        flow = self._flow.calc(before, after, None)  # type: ignore[call-overload]
        coarse = cv2.resize(flow, (self.grid.cells, self.grid.cells), interpolation=cv2.INTER_AREA)
        change = cv2.mean(cv2.absdiff(before, after))[0]
        parts = (coarse.clip(-_FASTEST, _FASTEST).ravel(), old, new - old, [change], self._look)
        return np.concatenate(parts, dtype=np.float32)


def _look(frame: NDArray[np.uint8], gray: NDArray[np.uint8]) -> Array:
    """Histograms of brightness and of each colour (roots of shares), edges at two scales, colourfulness, flatness."""
    shades = [cv2.calcHist([gray], [0], None, [_BINS], [0, 256])]
    shades += [cv2.calcHist([frame], [plane], None, [_COLOUR_BINS], [0, 256]) for plane in range(3)]
    half = cv2.resize(gray, (gray.shape[1] // 2, gray.shape[0] // 2), interpolation=cv2.INTER_AREA)
    across = cv2.absdiff(gray[:, 1:], gray[:, :-1])
    edges = [across, cv2.absdiff(gray[1:], gray[:-1])]
    edges += [cv2.absdiff(half[:, 1:], half[:, :-1]), cv2.absdiff(half[1:], half[:-1])]
    red, green, blue = cv2.split(frame)
    tints = [cv2.mean(cv2.absdiff(*pair))[0] for pair in ((red, green), (green, blue))]
    strengths = [*(cv2.mean(edge)[0] for edge in edges), *tints, cv2.meanStdDev(gray)[1][0, 0]]
    warmth = (cv2.mean(red)[0] - cv2.mean(blue)[0]) / 30
    flat = np.count_nonzero(np.asarray(across) < 2) / across.size
    shares = np.sqrt(np.concatenate(shades).ravel() / gray.size)
    return np.concatenate([shares, np.log(0.05 + np.array(strengths)), [flat, warmth]]).astype(np.float32)


def mirror(grid: MotionGrid) -> tuple[NDArray[np.int64], Array]:
    """The order and the signs (size,) that turn a step's figures into those of the mirrored video."""

    def flipped(side: int, planes: int) -> NDArray[np.int64]:
        return np.arange(side * side * planes).reshape(side, side, planes)[:, ::-1].ravel()

    parts = [flipped(grid.cells, 2), flipped(grid.thumb, 3), flipped(grid.thumb, 3), np.arange(LOOKS)]
    begins = np.cumsum([0, *map(len, parts[:-1])])
    signs = np.ones(grid.size, np.float32)
    signs[: grid.flow_size : 2] = -1
    return np.concatenate([part + begin for part, begin in zip(parts, begins)]), signs
