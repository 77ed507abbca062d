"""The judge that needs no service: brightness and uniformity rules, and OCR for tell-tale words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UserError
from ..domains import Domain
from .judge import Candidate, Verdict, decided

ReadText = Callable[[NDArray[np.uint8]], list[str]]


@dataclass(frozen=True)
class PictureRules:
    """Limits on channel values 0-255, chosen so that a dark cave or a wall up close still passes."""

    dark: int = 16
    """A picture whose 99th percentile of the brightest channel is below this is black."""
    uniform: float = 2.0
    """A picture whose standard deviation is below this in every channel shows nothing."""


class EmbeddedJudge:
    """Rules first, then words; a picture that trips nothing is gameplay."""

    def __init__(self, domain: Domain, read_text: ReadText | None, rules: PictureRules | None = None) -> None:
        self._rules = rules or PictureRules()
        self._still_ns = domain.still_ns
        self._read_text = read_text
        self._patterns = {label: _pattern(phrases) for label, phrases in domain.words.items()}

    def submit(self, candidate: Candidate) -> Future[Verdict]:
        label = self._look(candidate) or self._read(candidate.rgb)
        return decided(Verdict(label is None, label or "gameplay"))

    def close(self) -> None: ...

    def _look(self, candidate: Candidate) -> str | None:
        brightest = candidate.rgb.max(-1)
        if np.percentile(brightest, 99) < self._rules.dark:
            return "black"
        if candidate.rgb.reshape(-1, 3).std(0).max() < self._rules.uniform:
            return "uniform"
        if self._still_ns is not None and candidate.still_ns >= self._still_ns:
            return "still"
        return None

    def _read(self, rgb: NDArray[np.uint8]) -> str | None:
        if self._read_text is None or not self._patterns:
            return None
        text = " | ".join(self._read_text(rgb)).casefold()
        return next((label for label, pattern in self._patterns.items() if pattern.search(text)), None)


def _pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """Any of the phrases as whole words; OCR often loses the spaces between them."""
    alternatives = (r"\s*".join(re.escape(word) for word in phrase.casefold().split()) for phrase in phrases)
    return re.compile(r"(?<!\w)(?:" + "|".join(alternatives) + r")(?!\w)")


def load_ocr() -> Any:
    """The OCR engine's class, or one line about what to install."""
    try:
        from rapidocr import RapidOCR
    except ImportError:
        raise UserError(
            "the embedded judge reads screens with OCR, which is not installed: "
            "pip install 'actswm[judge]', or judge by rules only with --judge rules"
        ) from None
    return RapidOCR


def ocr_reader() -> ReadText:
    """RapidOCR with the models its wheel carries; nothing is downloaded."""
    engine = load_ocr()(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": 640,
        }
    )

    def read_text(rgb: NDArray[np.uint8]) -> list[str]:
        return list(engine(np.ascontiguousarray(rgb[..., ::-1])).txts or ())

    return read_text
