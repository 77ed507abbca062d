"""Video files with exact integer timestamps, read and written by PyAV."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import av
import numpy as np
from av.video.frame import PictureType
from numpy.typing import NDArray

from ..errors import UserError

NS = 1_000_000_000
MS = 1_000_000
_FAR_FUTURE = 2**61
"""In nanoseconds some 73 years: differences of such times still fit."""
_MOST_BETWEEN = 16
"""Pictures between two that are not coded from what follows."""
_MATROSKA_TICK = Fraction(1, 1000)


def to_ns(pts: int, time_base: Fraction) -> int:
    """A timestamp in ticks as nanoseconds, rounded to the nearest, in integers only."""
    scaled = pts * time_base.numerator * NS
    return (2 * scaled + time_base.denominator) // (2 * time_base.denominator)


class VideoWriter:
    """H.264, nearly lossless (4:4:4, so that colours of small frames survive): Matroska, or by its ending MP4.

    Matroska counts in milliseconds, so `pts_ns` must be whole milliseconds: what is written is what is read. MP4
    counts in frames of an even rate.
    """

    def __init__(
        self, path: Path, *, height: int, width: int, fps: Fraction, crf: int = 8, gop: int | None = None
    ) -> None:
        self.path = path
        mp4 = path.suffix == ".mp4"
        self._tick = 1 / fps if mp4 else _MATROSKA_TICK
        self._container = av.open(str(path), "w", format="mp4" if mp4 else "matroska")
        self._stream: Any = self._container.add_stream("libx264", rate=fps)
        self._stream.height, self._stream.width, self._stream.pix_fmt = height, width, "yuv444p"
        self._stream.time_base = self._stream.codec_context.time_base = self._tick
        self._stream.codec_context.gop_size = gop or max(1, round(fps))
        self._stream.options = {"crf": str(crf), "preset": "veryfast", "bf": "0"}

    def add(self, rgb: NDArray[np.uint8], pts_ns: int) -> None:
        if pts_ns % MS:
            raise ValueError(f"Matroska cannot hold a timestamp of {pts_ns} ns: not whole milliseconds")
        self.add_at(rgb, pts_ns // MS)

    def add_at(self, rgb: NDArray[np.uint8], tick: int) -> None:
        """A frame at a whole number of the container's ticks: milliseconds, or frames."""
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
        frame.pts, frame.time_base = tick, self._tick
        self._container.mux(self._stream.encode(frame))

    def close(self) -> None:
        self._container.mux(self._stream.encode(None))
        self._container.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


@dataclass(frozen=True)
class DecodedFrame:
    """A decoded picture and its time; `rgb` converts and resizes only when asked."""

    pts_ns: int
    picture: Any
    corrupt: bool = False
    """The decoder had to guess parts of the picture, or of one that it builds on."""

    def rgb(self, height: int, width: int) -> NDArray[np.uint8]:
        try:
            resized = self.picture.reformat(width=width, height=height, format="rgb24", interpolation="AREA")
            return resized.to_ndarray()
        except (av.FFmpegError, ValueError) as error:
            raise UserError(f"a picture of the video cannot be converted ({error}); it is damaged") from None

    @property
    def shape(self) -> tuple[int, int]:
        return self.picture.height, self.picture.width


def _open_video(path: Path) -> tuple[Any, Any]:
    if path.stat().st_size == 0:
        raise UserError(f"{path}: the video is empty; copy it again")
    try:
        container = av.open(str(path))
    except (av.FFmpegError, ValueError) as error:
        raise UserError(
            f"{path}: cannot be opened as a video ({error}); it is truncated or damaged"
        ) from None
    if not container.streams.video:
        container.close()
        raise UserError(f"{path}: has no video track")
    stream = container.streams.video[0]
    stream.thread_type = "AUTO"
    return container, stream


def frame_times(path: Path) -> NDArray[np.int64]:
    """Timestamps of the first video track's frames in the order they are shown, without decoding.

    Only packets are read. A track whose packets are all in decoding order without reordering is returned as it
    is, so that a clock that runs backwards stays visible; with B-frames the packets are sorted.
    """
    container, stream = _open_video(path)
    with container:
        reordered = bool(stream.codec_context.has_b_frames)
        try:
            times = [
                to_ns(packet.pts, packet.time_base)
                for packet in container.demux(stream)
                if packet.pts is not None and packet.size
            ]
        except av.FFmpegError as error:
            raise UserError(f"{path}: the video breaks off ({error}); copy it again") from None
    if not times:
        raise UserError(f"{path}: the video has no frames")
    if max(map(abs, times)) >= _FAR_FUTURE:
        raise UserError(f"{path}: the video has a timestamp of {max(times) // NS} s; it is damaged")
    return np.array(sorted(times) if reordered else times, np.int64)


def decode(path: Path, start_ns: int = 0) -> Iterator[DecodedFrame]:
    """Every decodable frame of the first video track, in order. Damaged packets are skipped.

    With `start_ns` it begins at a key frame at or before that time.
    """
    container, stream = _open_video(path)
    with container:
        try:
            if start_ns:
                container.seek(int(start_ns / NS / stream.time_base), stream=stream)
            for picture, corrupt in pictures(container, stream):
                if picture.pts is not None:
                    yield DecodedFrame(to_ns(picture.pts, picture.time_base), picture, corrupt)
        except av.FFmpegError as error:
            raise UserError(f"{path}: the video breaks off ({error}); copy it again") from None


def pictures(container: Any, stream: Any, skip: bool = True) -> Iterator[tuple[Any, bool]]:
    """Decoded pictures, and whether each is corrupt; with `skip` packets that do not decode are left out.

    The decoder marks only the picture in which the damage lies, and what a container lost only the container knows.
    Those after it are built on it, and so are as wrong, up to the next key frame, and so are pictures that are shown
    before it but were coded from it as well (B).
    """
    waiting: list[tuple[Any, bool]] = []
    for told in _marked(container, stream, skip):
        waiting.append(told)
        between = told[0].pict_type == PictureType.B and stream.codec_context.has_b_frames
        if not between:
            yield from _settled(waiting)
            waiting = []
        elif len(waiting) > _MOST_BETWEEN:
            yield waiting.pop(0)
    yield from _settled(waiting)


def _settled(run: list[tuple[Any, bool]]) -> Iterator[tuple[Any, bool]]:
    """Pictures up to one from which those before it may have been coded."""
    hurt = any(corrupt for _, corrupt in run)
    yield from ((picture, hurt) for picture, _ in run[:-1])
    yield from run[-1:]


def _marked(container: Any, stream: Any, skip: bool) -> Iterator[tuple[Any, bool]]:
    """Decoded pictures; corrupt are those with a mark and those after it. They come out later than packets go in: a
    key frame from before the damage mends nothing.
    """
    damage = _Damage()
    for packet in container.demux(stream):
        try:
            decoded = packet.decode()
        except av.FFmpegError:
            if not skip:
                raise
            damage.at(packet.pts)
            continue
        if packet.is_corrupt:
            damage.at(packet.pts)
        for picture in decoded:
            yield picture, damage.reaches(picture)


class _Damage:
    """The last damage of a stream, and whom it reaches."""

    def __init__(self) -> None:
        self._last: int | None = None
        self._lasts = False

    def at(self, pts: int | None) -> None:
        self._lasts = True
        if pts is not None:
            self._last = pts if self._last is None else max(self._last, pts)

    def reaches(self, picture: Any) -> bool:
        if picture.is_corrupt:
            self.at(picture.pts)
        elif picture.key_frame and (None in (self._last, picture.pts) or picture.pts > self._last):
            self._lasts = False
        return self._lasts
