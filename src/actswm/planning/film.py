"""An episode as a film: the reference, reality, and the chosen chunk side by side."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from ..atomic import appearing_whole
from ..game import Frame
from .agents import Decision
from .references import Reference

SIDE, TITLE = 256, 24
SHOWN = 8
"""Chunks of a plan that fit beneath the chosen one."""
WHITE, GREY, ORANGE = (240, 240, 240), (150, 150, 150), (255, 170, 60)


class Film:
    """H.264 in MP4, which appears when closed; an abandoned film leaves nothing."""

    def __init__(self, path: Path, reference: Reference, fps: float) -> None:
        self._reference = reference
        self._whole = appearing_whole(path)
        self._container = av.open(str(self._whole.__enter__()), "w")
        self._stream: Any = self._container.add_stream("libx264", rate=Fraction(fps).limit_denominator(1000))
        self._stream.width, self._stream.height, self._stream.pix_fmt = 3 * SIDE, SIDE + TITLE, "yuv420p"
        self._stream.options = {"crf": "23", "preset": "veryfast"}

    def add(self, step: int, frame: Frame, decision: Decision) -> None:
        """The frame after raw step `step`, and the reference at the same time, its last frame held."""
        then = self._reference.clip[min(step, len(self._reference.clip) - 1)]
        tiles = (_tile("reference", then), _tile("reality", frame), _panel(step, decision))
        picture = av.VideoFrame.from_ndarray(np.concatenate(tiles, 1), format="rgb24")
        self._container.mux(self._stream.encode(picture))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._container.mux(self._stream.encode(None))
        self._container.close()
        self._whole.__exit__(kind, error, trace)


def _tile(title: str, frame: Frame) -> NDArray[np.uint8]:
    grown = cv2.resize(frame, (SIDE, SIDE), interpolation=cv2.INTER_NEAREST)
    return np.concatenate([_title(title), grown], 0)


def _panel(step: int, decision: Decision) -> NDArray[np.uint8]:
    panel = np.full((SIDE, SIDE, 3), 24, np.uint8)
    _write(panel, decision.name, 34, 0.7, ORANGE)
    for row, name in enumerate(decision.then[:SHOWN]):
        _write(panel, name, 82 + 18 * row, 0.42, GREY)
    if decision.cost is not None:  # near the top: a player's controls cover the bottom
        _write(panel, f"cost {decision.cost:.3f}, {decision.cpu_seconds:.2f} CPU-s", 58, 0.42, WHITE)
    return np.concatenate([_title(f"step {step}"), panel], 0)


def _title(text: str) -> NDArray[np.uint8]:
    strip = np.zeros((TITLE, SIDE, 3), np.uint8)
    _write(strip, text, 17, 0.5, WHITE)
    return strip


def _write(
    image: NDArray[np.uint8], text: str, baseline: int, size: float, colour: tuple[int, int, int]
) -> None:
    cv2.putText(image, text, (8, baseline), cv2.FONT_HERSHEY_SIMPLEX, size, colour, 1, cv2.LINE_AA)
