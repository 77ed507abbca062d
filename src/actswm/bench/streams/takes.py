"""A take: frames of a game that follow each other, with what each of them shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from ...atomic import write_whole
from ...controls import KEYS14
from ...formats.video import decode

Rgb = NDArray[np.uint8]
PLAY = "play"


@dataclass(frozen=True)
class Take:
    """Lies as a video, and beside it a JSON file with `fps` and one label a frame."""

    path: Path
    fps: float
    labels: tuple[str, ...]

    @classmethod
    def load(cls, path: Path) -> Take:
        told = json.loads(path.with_suffix(".json").read_text())
        labels = [label for label, count in told["runs"] for _ in range(count)]
        return cls(path, told["fps"], tuple(labels))

    def frames(self) -> Iterator[Rgb]:
        for frame in decode(self.path):
            yield frame.rgb(*frame.shape)


class TakeWriter:
    """Writes a take as it is played. The truth comes last: a take without it was not finished."""

    def __init__(self, path: Path, fps: float, size: tuple[int, int]) -> None:
        self.path, self.fps, self.labels = path, fps, list[str]()
        height, width = size
        self._container = av.open(str(path), "w", format="matroska")
        self._stream: Any = self._container.add_stream("libx264", rate=Fraction(fps))
        self._stream.height, self._stream.width, self._stream.pix_fmt = height, width, "yuv420p"
        self._stream.options = {"crf": "14", "preset": "ultrafast", "threads": "1"}

    def add(self, rgb: Rgb, label: str) -> None:
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
        self._container.mux(self._stream.encode(frame))
        self.labels.append(label)

    def close(self) -> Take:
        self._container.mux(self._stream.encode(None))
        self._container.close()
        write_whole(self.path.with_suffix(".json"), json.dumps({"fps": self.fps, "runs": runs(self.labels)}))
        return Take(self.path, self.fps, tuple(self.labels))


def runs(labels: Sequence[str]) -> list[list[Any]]:
    """Labels as runs: [label, count]."""
    found: list[list[Any]] = []
    for label in labels:
        if found and found[-1][0] == label:
            found[-1][1] += 1
        else:
            found.append([label, 1])
    return found


def wander(rng: np.random.Generator, steps: int, fps: float, fire: bool = True) -> NDArray[np.float32]:
    """(steps, A) raw actions of somebody who is always on the move: runs, strafes, turns, jumps, shoots."""
    actions: list[NDArray[np.float32]] = []
    while len(actions) < steps:
        held = ["W"] if rng.random() < 0.8 else ["S"]
        turn = rng.random()
        if turn < 0.35:
            held.append("Turn_L")
        elif turn < 0.7:
            held.append("Turn_R")
        if rng.random() < 0.25:
            held.append(str(rng.choice(["A", "D"])))
        if rng.random() < 0.2:
            held.append("Jump")
        if fire and rng.random() < 0.3:
            held.append("Fire")
        count = max(2, int(fps * rng.uniform(0.2, 0.9)))
        if rng.random() < 0.2:  # a glance up or down, and back
            glance = rng.permutation(["Look_U", "Look_D"]).tolist()
            actions += [KEYS14.action([*held, one]) for one in glance for _ in range(count // 2)]
        else:
            actions += [KEYS14.action(held)] * count
    return np.array(actions[:steps])
