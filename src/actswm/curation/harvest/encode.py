"""Export: stretches of a source as mute H.264 of a fixed size and rate, the same bytes on every run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av

from ...atomic import written_whole
from ...formats.video import _open_video
from .timeline import Timeline
from .trouble import Trouble

_SEEK_S = 4.0
"""A stretch that begins further ahead than this is reached by a seek."""


@dataclass(frozen=True)
class Shape:
    height: int
    width: int
    fps: int


def frame_count(start_pts: int, end_pts: int, tick: Fraction, fps: int) -> int:
    """Moments start + k / fps that lie before the end."""
    span = (end_pts - start_pts) * tick * fps
    return max(1, -(-span.numerator // span.denominator))


def export_clips(
    timeline: Timeline, spans: list[tuple[int, int, Path]], shape: Shape, progress: Callable[[int], None]
) -> list[int]:
    """Write (start_pts, end_pts, path) spans, in the order of time; returns how many frames each has.

    Frame k of a clip shows what the source shows at start + k / fps: its last frame at or before that time.
    """
    reader = _Reader(timeline)
    try:
        counts = []
        for number, (start, end, path) in enumerate(spans):
            counts.append(_export(reader, timeline, start, end, path, shape))
            progress(number + 1)
        return counts
    finally:
        reader.close()


def _export(reader: _Reader, timeline: Timeline, start: int, end: int, path: Path, shape: Shape) -> int:
    total, tick = frame_count(start, end, timeline.tick, shape.fps), timeline.tick
    moments = [start + Fraction(k, shape.fps) / tick for k in range(total)]
    with written_whole(path) as temporary, _Encoder(temporary, shape, timeline) as encoder:
        shown, done = None, 0
        for picture in reader.pictures(start, end):
            while shown is not None and done < total and moments[done] < picture.pts:
                encoder.add(shown)
                done += 1
            shown = picture
        if shown is None:
            raise Trouble("broken", f"{timeline.path}: nothing can be decoded at {float(start * tick):.3f} s")
        for _ in range(total - done):
            encoder.add(shown)
    return total


class _Reader:
    """Decodes stretches that follow each other; seeks over what nobody asked for."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._open()

    def _open(self) -> None:
        self._container, self._stream = _open_video(Path(self._timeline.path))
        self._stream.thread_type = "AUTO"
        self._frames = self._decode()
        self._ahead: Any = None
        self._at = self._timeline.first_pts

    def close(self) -> None:
        self._container.close()

    def pictures(self, start: int, end: int) -> Iterator[Any]:
        self._go_to(start)
        while True:
            picture = self._ahead if self._ahead is not None else next(self._frames, None)
            self._ahead = None
            if picture is None:
                return
            if picture.pts >= end:
                self._ahead = picture
                return
            self._at = picture.pts
            if picture.pts >= start:
                yield picture

    def _go_to(self, start: int) -> None:
        ahead = float((start - self._at) * self._timeline.tick)
        if 0 <= ahead <= _SEEK_S and (self._ahead is None or self._ahead.pts <= start):
            return
        try:
            self._container.seek(start, stream=self._stream)
            self._frames = self._decode()
            self._ahead = next(self._frames, None)
        except av.FFmpegError:
            self._ahead = None
        if (
            self._ahead is None or self._ahead.pts > start
        ):  # the file's index is wrong or missing: from the beginning
            self.close()
            self._open()

    def _decode(self) -> Iterator[Any]:
        for packet in self._container.demux(self._stream):
            try:
                pictures = packet.decode()
            except av.FFmpegError:
                continue
            yield from (picture for picture in pictures if picture.pts is not None)


class _Encoder:
    """One thread and no dates, so that the bytes depend on the pictures alone."""

    def __init__(self, path: Path, shape: Shape, timeline: Timeline) -> None:
        self._shape, self._timeline = shape, timeline
        muxing = {"movflags": "+faststart", "fflags": "+bitexact"}
        self._container = av.open(str(path), "w", format="mp4", container_options=muxing)
        self._stream: Any = self._container.add_stream("libx264", rate=shape.fps)
        self._stream.height, self._stream.width, self._stream.pix_fmt = shape.height, shape.width, "yuv420p"
        self._stream.codec_context.time_base = Fraction(1, shape.fps)
        self._stream.codec_context.gop_size = 2 * shape.fps
        self._stream.options = {
            "crf": "20",
            "preset": "veryfast",
            "threads": "1",
            "flags": "+bitexact",
            # x264 reads memory that it has not written there, where the height is no multiple of 16
            "x264-params": "mbtree=0",
        }
        self._graphs: dict[tuple[int, int, str], Any] = {}
        self._last: tuple[int, Any] | None = None
        self._count = 0

    def add(self, picture: Any) -> None:
        if self._last is None or self._last[0] != picture.pts:
            self._last = (picture.pts, self._shaped(picture))
        frame = self._last[1]
        frame.pts, frame.time_base = self._count, Fraction(1, self._shape.fps)
        frame.pict_type = 0
        self._count += 1
        self._container.mux(self._stream.encode(frame))

    def _shaped(self, picture: Any) -> Any:
        """Without bars, scaled, in the colours' order that is written."""
        key = (picture.height, picture.width, picture.format.name)
        if key not in self._graphs:
            self._graphs[key] = self._graph(picture)
        graph = self._graphs[key]
        graph.push(picture)
        return graph.pull()

    def _graph(self, picture: Any) -> Any:
        top, bottom, left, right = self._timeline.crop
        if (picture.height, picture.width) != (self._timeline.height, self._timeline.width):
            top, bottom, left, right = 0, picture.height, 0, picture.width
        graph = av.filter.Graph()
        links = [
            graph.add_buffer(
                width=picture.width,
                height=picture.height,
                format=picture.format,
                time_base=self._timeline.tick,
            ),
            graph.add("crop", f"{right - left}:{bottom - top}:{left}:{top}:exact=1"),
            graph.add("scale", f"{self._shape.width}:{self._shape.height}:flags=area"),
            graph.add("setsar", "1"),
            graph.add("format", "pix_fmts=yuv420p"),
            graph.add("buffersink"),
        ]
        graph.link_nodes(*links)
        graph.configure()
        return graph

    def __enter__(self) -> _Encoder:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self._container.mux(self._stream.encode(None))
        self._container.close()
