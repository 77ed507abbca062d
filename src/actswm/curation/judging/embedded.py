"""The judge that needs no service: brightness and uniformity rules, and OCR for tell-tale words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..domains import Domain
from .judge import Candidate, Verdict, decided
from .ocr import ReadText


@dataclass(frozen=True)
class PictureRules:
    """Limits on channel values 0-255, chosen so that a dark cave or a wall up close still passes."""

    dark: int = 16
    """A picture whose 99th percentile of the brightest channel is below this is black."""
    uniform: float = 2.0
    """A picture whose standard deviation is below this in every channel shows nothing."""


class EmbeddedJudge:
    """Rules first, then words; a picture that trips nothing is gameplay.

    Words are read on a thread of its own, while the recording is decoded further.
    """

    def __init__(self, domain: Domain, read_text: ReadText | None, rules: PictureRules | None = None) -> None:
        self._rules = rules or PictureRules()
        self._still_ns = domain.still_ns
        self._read_text = read_text if domain.words else None
        self._patterns = {label: _pattern(phrases) for label, phrases in domain.words.items()}
        self._reader = ThreadPoolExecutor(1, "ocr")

    def submit(self, candidate: Candidate) -> Future[Verdict]:
        label = self._look(candidate)
        if label is None and self._read_text is not None:
            return self._reader.submit(self._read, self._read_text, candidate.rgb)
        return decided(_verdict(label))

    def close(self) -> None:
        self._reader.shutdown(cancel_futures=True)

    def _look(self, candidate: Candidate) -> str | None:
        import cv2

        red, green, blue = np.moveaxis(candidate.rgb, -1, 0)
        brightest = np.maximum(np.maximum(red, green), blue)
        if np.percentile(brightest, 99) < self._rules.dark:
            return "black"
        if cv2.meanStdDev(candidate.rgb)[1].max() < self._rules.uniform:
            return "uniform"
        if self._still_ns is not None and candidate.still_ns >= self._still_ns:
            return "still"
        return None

    def _read(self, read_text: ReadText, rgb: NDArray[np.uint8]) -> Verdict:
        text = " | ".join(read_text(rgb)).casefold()
        return _verdict(
            next((label for label, pattern in self._patterns.items() if pattern.search(text)), None)
        )


def _verdict(label: str | None) -> Verdict:
    return Verdict(label is None, label or "gameplay")


def _pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """Any of the phrases as whole words; OCR often loses the spaces between them."""
    alternatives = (r"\s*".join(re.escape(word) for word in phrase.casefold().split()) for phrase in phrases)
    return re.compile(r"(?<!\w)(?:" + "|".join(alternatives) + r")(?!\w)")
