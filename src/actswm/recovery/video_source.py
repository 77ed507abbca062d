"""Frames of a video at a steady rate and the model's size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..formats.video import NS, decode, frame_times

_SAME_RATE = 0.01
_DECODABLE = 0.9
"""A video of which less can be decoded is broken."""


@dataclass(frozen=True)
class VideoSource:
    path: Path
    frames: int
    fps: float

    @classmethod
    def open(cls, path: Path) -> VideoSource:
        """Reads the timestamps; a file that is no sound video is a `UserError`."""
        if not path.is_file():
            raise UserError(f"{path}: no such video")
        times = frame_times(path)
        intervals = np.diff(times)
        intervals = intervals[intervals > 0]
        fps = max(0.01, round(NS / float(np.median(intervals)), 2)) if len(intervals) else 1.0
        return cls(path, len(times), fps)

    def count_at(self, fps: float) -> int:
        """About how many frames `read` gives."""
        return round(self.frames * fps / self.fps)

    def read(self, size: int, fps: float) -> Iterator[NDArray[np.uint8]]:
        """RGB frames (size, size, 3), `fps` a second: each moment shows the last frame before it."""
        resample = abs(fps / self.fps - 1) > _SAME_RATE
        shown: NDArray[np.uint8] | None = None
        decoded, emitted, first_ns = 0, 0, 0
        for frame in decode(self.path):
            decoded += not frame.corrupt
            rgb = frame.rgb(size, size)
            if not resample:
                yield rgb
                continue
            first_ns = frame.pts_ns if shown is None else first_ns
            while shown is not None and first_ns + emitted * NS / fps < frame.pts_ns:
                yield shown
                emitted += 1
            shown = rgb
        if decoded < _DECODABLE * self.frames:
            raise UserError(
                f"{self.path}: only {decoded} of {self.frames} frames can be decoded soundly; it is damaged"
            )
        if shown is not None:
            yield shown
