"""Normalise: what a video is, without writing it anew: its times, its holes, its picture inside any black bars.

A normalised copy would cost an encoding and its losses; every later stage reads the source through this instead.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from ...errors import UserError
from ...formats.video import _open_video
from .trouble import Trouble

_LOOKS = 24
"""Pictures that are looked at for bars."""
_BLACK = 20
"""Brightest luminance (0-255) in a line that is part of a bar; coding leaves some noise in it."""
_NO_MARK = 80
"""Percentile of a line of pixels that is brighter outside of bars: a logo in a bar fills less of it."""
_THINNEST = 0.015
"""Of the picture: a thinner bar is left."""


@dataclass(frozen=True)
class Timeline:
    """Times in ticks of `time_base` of the source's own clock."""

    path: str
    frames: int
    time_base: tuple[int, int]
    first_pts: int
    end_pts: int
    """Where the last frame's turn would be over."""
    fps: float
    """Of the middle interval."""
    variable: bool
    height: int
    width: int
    crop: tuple[int, int, int, int]
    """Top, bottom, left, right: the picture without bars."""
    holes: tuple[tuple[int, int], ...]
    """(last frame before, first frame after) of each hole."""
    codec: str
    audio: bool

    @property
    def tick(self) -> Fraction:
        return Fraction(*self.time_base)

    @property
    def seconds(self) -> float:
        """Without the holes."""
        lost = sum(after - before for before, after in self.holes)
        return float((self.end_pts - self.first_pts - lost) * self.tick)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Timeline:
        told = {name: content[name] for name in cls.__dataclass_fields__}
        for name in ("time_base", "crop"):
            told[name] = tuple(told[name])
        told["holes"] = tuple(tuple(hole) for hole in told["holes"])
        return cls(**told)


def read_timeline(path: Path, hole_s: float) -> Timeline:
    """Packets are read for the times, a few pictures are decoded for the bars."""
    container, stream = _open_video(path)
    with container:
        tick = stream.time_base
        try:
            times = sorted(
                {packet.pts for packet in container.demux(stream) if packet.pts is not None and packet.size}
            )
        except av.FFmpegError as error:
            raise UserError(f"{path}: the video breaks off ({error})") from None
        if not times:
            raise UserError(f"{path}: the video has no frames")
        pts = np.array(times, np.int64)
        gaps = np.diff(pts)
        usual = int(np.median(gaps)) if len(gaps) else max(1, round(1 / 30 / tick))
        breaks = np.flatnonzero(gaps * float(tick) > hole_s)
        codec, audio = stream.codec_context.name, bool(container.streams.audio)
    height, width, crop = _find_bars(path, pts)
    return Timeline(
        str(path),
        len(pts),
        (tick.numerator, tick.denominator),
        int(pts[0]),
        int(pts[-1]) + usual,
        round(float(1 / (usual * tick)), 3),
        bool(len(gaps) and np.mean(np.abs(gaps - usual) * float(tick) > 0.004) > 0.02),
        height,
        width,
        crop,
        tuple((int(pts[i]), int(pts[i + 1])) for i in breaks),
        codec,
        audio,
    )


def _find_bars(path: Path, pts: NDArray[np.int64]) -> tuple[int, int, tuple[int, int, int, int]]:
    """The smallest box that holds what is not black in any of some pictures from all over the video."""
    container, stream = _open_video(path)
    height = width = 0
    top = left = 1 << 30
    bottom = right = 0
    with container:
        for wanted in pts[np.linspace(0, len(pts) - 1, min(_LOOKS, len(pts)), dtype=int)].tolist():
            picture = _picture_at(container, stream, wanted)
            if picture is None:
                continue
            luma = picture.reformat(format="gray").to_ndarray()
            if (height, width) not in ((0, 0), luma.shape):
                return *luma.shape, (0, luma.shape[0], 0, luma.shape[1])  # the size changes: leave it whole
            height, width = luma.shape
            rows = np.flatnonzero(np.percentile(luma, _NO_MARK, axis=1) > _BLACK)
            columns = np.flatnonzero(np.percentile(luma, _NO_MARK, axis=0) > _BLACK)
            if len(rows) and len(columns):
                top, bottom = min(top, int(rows[0])), max(bottom, int(rows[-1]) + 1)
                left, right = min(left, int(columns[0])), max(right, int(columns[-1]) + 1)
    if not height:
        raise Trouble("broken", f"{path}: no picture can be decoded")
    if bottom <= top or right <= left:
        return height, width, (0, height, 0, width)
    return height, width, (*_trimmed(top, bottom, height), *_trimmed(left, right, width))


def _trimmed(first: int, end: int, length: int) -> tuple[int, int]:
    """Even numbers, since colours are stored for two pixels at a time; thin bars stay."""
    first = first + first % 2 if first >= _THINNEST * length else 0
    end = end - end % 2 if length - end >= _THINNEST * length else length
    return first, end


def _picture_at(container: Any, stream: Any, pts: int) -> Any:
    """The first picture that can be decoded soundly from the key frame before `pts` on."""
    try:
        container.seek(pts, stream=stream)
        for packet in container.demux(stream):
            for picture in packet.decode():
                if not picture.is_corrupt:
                    return picture
    except av.FFmpegError:
        return None
    return None
