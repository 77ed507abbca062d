"""Videos that no game model should label: white noise, a frozen picture, black, and somebody typing in an editor."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

Frames = NDArray[np.uint8]
_WORDS = "def return import for in if else class self None True while with as print open read write list".split()


def white_noise(picture: Frames, count: int, rng: np.random.Generator) -> Frames:
    return rng.integers(0, 256, (count, *picture.shape), dtype=np.uint8)


def frozen(picture: Frames, count: int, rng: np.random.Generator) -> Frames:
    """A picture of the game itself, which stands still."""
    return np.repeat(picture[None], count, 0)


def black(picture: Frames, count: int, rng: np.random.Generator) -> Frames:
    return np.zeros((count, *picture.shape), np.uint8)


def editor(picture: Frames, count: int, rng: np.random.Generator) -> Frames:
    """Lines of words, a letter every third frame, light or dark, scrolling when the page is full."""
    dark = bool(rng.integers(2))
    paper, ink = ((30, 30, 30), (212, 212, 212)) if dark else ((255, 255, 255), (20, 20, 20))
    height, width = 480, 640
    lines = [_line(rng) for _ in range(int(rng.integers(5, 24)))]
    typed, target, frames = "", _line(rng), []
    for number in range(count):
        if number % 3 == 0:
            typed = target[: len(typed) + 1]
            if typed == target:
                lines, typed, target = [*lines, typed], "", _line(rng)
        page = np.full((height, width, 3), paper, np.uint8)
        for row, text in enumerate([*lines, typed][-23:]):
            cv2.putText(page, text, (40, 22 + 20 * row), cv2.FONT_HERSHEY_SIMPLEX, 0.45, ink, 1)
        frames.append(cv2.resize(page, picture.shape[1::-1], interpolation=cv2.INTER_AREA))
    return np.stack(frames).astype(np.uint8)


def _line(rng: np.random.Generator) -> str:
    return " " * (4 * int(rng.integers(3))) + " ".join(rng.choice(_WORDS, int(rng.integers(2, 10))))


FOREIGN: Mapping[str, Callable[[Frames, int, np.random.Generator], Frames]] = {
    "white noise": white_noise,
    "frozen picture": frozen,
    "black": black,
    "text editor": editor,
}
"""Each takes a picture of the game (h, w, 3), whose shape it keeps, and the number of frames."""
