"""Words on a sample picture, read with the embedded judge's OCR, but only as much as betrays a state.

Recognition costs most of the time, by the line. A menu's or a death screen's words are among the largest lines, so
only those are read, and of them only those with room for a phrase (a HUD's figures have none); a picture like the last
one is not read again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..judging.embedded import _pattern
from ..judging.ocr import flushed_denormals, load_ocr

_SIDE = 480
"""Longest side of the picture in which lines are looked for."""
_LINES = 5
_NARROWEST = 0.3
"""Width over height of a letter in a condensed face: a line has to be wide enough for the shortest phrase."""
_SAME = 1.5
"""Mean difference below which a picture shows the same words."""


class WordReader:
    """State of a picture by its words, or None."""

    def __init__(self, words: Mapping[str, tuple[str, ...]]) -> None:
        self._patterns: dict[str, re.Pattern[str]] = {state: _pattern(some) for state, some in words.items()}
        letters = [len("".join(phrase.split())) for some in words.values() for phrase in some]
        self._least_width = _NARROWEST * min(letters, default=0)
        self._last: tuple[NDArray[Any], str | None] | None = None
        self._engine = _engine()

    def state(self, bgr: NDArray[Any]) -> str | None:
        small = cv2.resize(bgr, (80, 45), interpolation=cv2.INTER_AREA)
        if self._last is not None and float(np.mean(cv2.absdiff(small, self._last[0]))) < _SAME:
            return self._last[1]
        state = self._read(bgr)
        self._last = (small, state)
        return state

    def _read(self, bgr: NDArray[Any]) -> str | None:
        with flushed_denormals():
            boxes = self._engine(bgr, use_det=True, use_cls=False, use_rec=False).boxes
            if boxes is None:
                return None
            lines = sorted(
                (_line(bgr, box) for box in boxes), key=lambda line: -line.shape[0] * line.shape[1]
            )
            for line in lines[:_LINES]:
                if line.shape[1] < self._least_width * line.shape[0]:
                    continue
                told = self._engine(line, use_det=False, use_cls=False, use_rec=True)
                text = " ".join(told.txts or ()).casefold()
                for state, pattern in self._patterns.items():
                    if pattern.search(text):
                        return state
        return None


def _line(bgr: NDArray[Any], box: Any) -> NDArray[Any]:
    corners = np.asarray(box)
    (left, top), (right, bottom) = np.floor(corners.min(0)).astype(int), np.ceil(corners.max(0)).astype(int)
    return np.ascontiguousarray(bgr[max(0, top - 1) : bottom + 1, max(0, left - 1) : right + 1])


@lru_cache(1)
def _engine() -> Any:
    engine = load_ocr()(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": _SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        }
    )
    engine(np.zeros((32, 32, 3), np.uint8))  # the first session of a process resets the thread's control word
    return engine
