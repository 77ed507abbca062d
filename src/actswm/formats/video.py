"""Video files with exact integer timestamps, read and written by PyAV."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import av
import numpy as np
from numpy.typing import NDArray

NS = 1_000_000_000
MS = 1_000_000
_MATROSKA_TICK = Fraction(1, 1000)


def to_ns(pts: int, time_base: Fraction) -> int:
    """A timestamp in ticks as nanoseconds, rounded to the nearest, in integers only."""
    scaled = pts * time_base.numerator * NS
    return (2 * scaled + time_base.denominator) // (2 * time_base.denominator)


class VideoWriter:
    """H.264 in Matroska, nearly lossless (4:4:4, so that colours of small frames survive).

    Matroska counts in milliseconds, so `pts_ns` must be whole milliseconds: what is written is what is read.
    """

    def __init__(self, path: Path, *, height: int, width: int, fps: Fraction, crf: int = 8) -> None:
        self.path = path
        self._container = av.open(str(path), "w", format="matroska")
        self._stream: Any = self._container.add_stream("libx264", rate=fps)
        self._stream.height, self._stream.width, self._stream.pix_fmt = height, width, "yuv444p"
        self._stream.time_base = self._stream.codec_context.time_base = _MATROSKA_TICK
        self._stream.codec_context.gop_size = max(1, round(fps))
        self._stream.options = {"crf": str(crf), "preset": "veryfast", "bf": "0"}

    def add(self, rgb: NDArray[np.uint8], pts_ns: int) -> None:
        if pts_ns % MS:
            raise ValueError(f"Matroska cannot hold a timestamp of {pts_ns} ns: not whole milliseconds")
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
        frame.pts, frame.time_base = pts_ns // MS, _MATROSKA_TICK
        self._container.mux(self._stream.encode(frame))

    def close(self) -> None:
        self._container.mux(self._stream.encode(None))
        self._container.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
