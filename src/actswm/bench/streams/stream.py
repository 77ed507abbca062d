"""Takes cut together as a streamer would: hard cuts and fades, a web-cam box, bars, sound, another rate and codec."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from ...atomic import write_whole
from ...json_files import read_json
from .takes import Take

Rgb = NDArray[Any]


@dataclass(frozen=True)
class Style:
    """How a stream looks and is coded."""

    height: int = 720
    width: int = 1280
    fps: int = 30
    codec: str = "libx264"
    suffix: str = ".mp4"
    bars: tuple[int, int] = (0, 0)
    """Rows above and below, columns left and right, black."""
    webcam: bool = False
    sound: bool = True
    variable: bool = False
    """Frames that repeat the one before are left out now and then, as screen recorders do."""
    fade_s: float = 0.0
    """Of every second joint: out to black and in again."""


@dataclass(frozen=True)
class Truth:
    """Of every frame: `pts_s` and label; `cuts` are the first frames after a joint, fades as (first, last) black."""

    pts_s: tuple[float, ...]
    labels: tuple[str, ...]
    cuts: tuple[int, ...]
    fades: tuple[tuple[int, int], ...]

    @classmethod
    def load(cls, path: Path) -> Truth:
        told = read_json(path)
        return cls(
            tuple(told["pts_s"]),
            tuple(told["labels"]),
            tuple(told["cuts"]),
            tuple(tuple(f) for f in told["fades"]),
        )


def make_stream(path: Path, parts: Sequence[tuple[Take, int, int]], style: Style, seed: int) -> Truth:
    """Join parts (take, first frame, end) into `path`, and write the truth beside it."""
    rng = np.random.default_rng([seed, 99])
    truth = _Notes()
    writer = _Writer(path, style)
    face = _Webcam(rng)
    for number, (take, first, end) in enumerate(parts):
        fades_in = bool(style.fade_s) and number % 2 == 1
        fades_out = bool(style.fade_s) and number % 2 == 0 and number + 1 < len(parts)
        frames = list(_at_rate(take, first, end, style.fps))
        reach = round(style.fade_s * style.fps)
        for index, (rgb, label) in enumerate(frames):
            light = 1.0
            if fades_in and index < reach:
                light = index / reach
            if fades_out and index >= len(frames) - reach:
                light = (len(frames) - 1 - index) / reach
            if index == 0 and number and (fades_in or not _goes_on(parts[number - 1], parts[number])):
                truth.joint(fade=fades_in)
            picture = _dressed(rgb, style, face, len(truth.labels), light)
            skip = style.variable and index > 0 and rng.random() < 0.15
            if writer.add(picture, skip):
                truth.add(writer.time_s, label if light > 0.5 else "fade")
    writer.close()
    made = truth.done()
    write_whole(path.with_name(f"{path.stem}.truth.json"), json.dumps(asdict(made)))
    return made


def _goes_on(left: tuple[Take, int, int], right: tuple[Take, int, int]) -> bool:
    """Does a part begin where the one before it ends? Then nobody sees a joint."""
    return left[0] == right[0] and left[2] == right[1]


class _Notes:
    def __init__(self) -> None:
        self.times: list[float] = []
        self.labels: list[str] = []
        self.cuts: list[int] = []
        self.fades: list[tuple[int, int]] = []

    def joint(self, fade: bool) -> None:
        here = len(self.labels)
        if fade:
            self.fades.append((here, here))
        else:
            self.cuts.append(here)

    def add(self, time_s: float, label: str) -> None:
        self.times.append(time_s)
        self.labels.append(label)

    def done(self) -> Truth:
        return Truth(tuple(self.times), tuple(self.labels), tuple(self.cuts), tuple(self.fades))


def _at_rate(take: Take, first: int, end: int, fps: int) -> Iterator[tuple[Rgb, str]]:
    """A take's frames shown at another rate: each moment shows the last frame before it."""
    shown = 0
    for index, rgb in enumerate(take.frames()):
        if index < first:
            continue
        if index >= end:
            return
        while first + shown * take.fps / fps < index + 1:
            yield rgb, take.labels[index]
            shown += 1


class _Webcam:
    """A face that moves, in a corner."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.wall = cv2.GaussianBlur(rng.integers(40, 200, (108, 144, 3), np.uint8), (0, 0), 9)

    def at(self, index: int) -> Rgb:
        box = self.wall.copy()
        x, y = 72 + 6 * np.sin(index / 17), 62 + 4 * np.sin(index / 11)
        cv2.ellipse(box, (int(x), int(y)), (24, 32), 0, 0, 360, (205, 160, 130), -1)
        cv2.circle(box, (int(x) - 8, int(y) - 8), 3, (30, 30, 30), -1)
        cv2.circle(box, (int(x) + 8, int(y) - 8), 3, (30, 30, 30), -1)
        cv2.ellipse(box, (int(x), int(y) + 12), (9, 2 + index // 5 % 4), 0, 0, 360, (120, 40, 40), -1)
        return box


def _dressed(rgb: Rgb, style: Style, face: _Webcam, index: int, light: float) -> Rgb:
    rows, columns = style.bars
    height, width = style.height - 2 * rows, style.width - 2 * columns
    picture = cv2.resize(rgb, (width, height), interpolation=cv2.INTER_LINEAR)
    if style.webcam:
        box = cv2.resize(face.at(index), (width // 6, height * 2 // 9))
        picture[: box.shape[0], width - box.shape[1] :] = box
    if light < 1.0:
        picture = (picture * light).astype(np.uint8)
    if rows or columns:
        picture = cv2.copyMakeBorder(picture, rows, rows, columns, columns, cv2.BORDER_CONSTANT)
    return picture


class _Writer:
    def __init__(self, path: Path, style: Style) -> None:
        self._style = style
        self._container = av.open(str(path), "w")
        stream: Any = self._container.add_stream(style.codec, rate=style.fps)
        self._stream: Any = stream
        stream.height, stream.width, stream.pix_fmt = style.height, style.width, "yuv420p"
        stream.codec_context.time_base = Fraction(1, style.fps)
        if style.codec == "libx264":
            stream.options = {"crf": "22", "preset": "veryfast", "threads": "1"}
        else:
            stream.bit_rate = 4_000_000
            if "vp" in style.codec:
                stream.options = {"deadline": "realtime", "cpu-used": "8"}
        self._audio: Any = None
        if style.sound:
            self._audio = self._container.add_stream(
                "libopus" if path.suffix == ".webm" else "aac", rate=48000
            )
            self._audio.layout = "mono"
        self._tick, self._heard = 0, 0
        self.time_s = 0.0

    def add(self, rgb: Rgb, skip: bool) -> bool:
        """Put a picture at the next tick; a skipped one leaves the one before on the screen."""
        tick, self._tick = self._tick, self._tick + 1
        if skip:
            return False
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
        frame.pts, frame.time_base = tick, Fraction(1, self._style.fps)
        self.time_s = tick / self._style.fps
        self._container.mux(self._stream.encode(frame))
        if self._audio is not None:
            self._sound((tick + 1) / self._style.fps)
        return True

    def _sound(self, until_s: float) -> None:
        while self._heard < until_s * 48000:
            samples = np.arange(self._heard, self._heard + 960)
            wave = (0.2 * np.sin(samples * 440 * 2 * np.pi / 48000)).astype(np.float32)
            frame = av.AudioFrame.from_ndarray(wave[None], format="flt", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = 48000, self._heard, Fraction(1, 48000)
            self._heard += 960
            self._container.mux(self._audio.encode(frame))

    def close(self) -> None:
        self._container.mux(self._stream.encode(None))
        if self._audio is not None:
            self._container.mux(self._audio.encode(None))
        self._container.close()
