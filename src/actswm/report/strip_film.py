"""A strip of futures as an animated GIF or an MP4: a row for each future, a column for each moment it begins in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..atomic import written_whole

PAPER, INK, QUIET = (255, 255, 255), (29, 31, 33), (110, 114, 120)
REAL, IMAGINED = (138, 138, 138), (0, 114, 178)
"""The frames' colours: what has been seen, and what a model draws."""
SIGNS = {"W": "↑", "S": "↓", "A": "←", "D": "→", "Turn_L": "↺", "Turn_R": "↻"}
LABEL, GAP, HEAD, CAPTION, FOOT = 124, 6, 26, 16, 20
"""Pixels: the rows' names, between cells, above and below them."""
BEFORE_SHOWN = 4
PAUSE = 5
"""Pictures for which the last one stays."""


@dataclass(frozen=True)
class FilmRow:
    """Frames (W, K, h, w, 3) with the controls held on the way to each; `drawn` by a decoder, not recorded."""

    title: str
    frames: NDArray[np.uint8]
    held: Sequence[Sequence[Sequence[str]]]
    drawn: bool


def strip_pictures(
    before: NDArray[np.uint8], rows: Sequence[FilmRow], title: str, foot: str, cell: int = 96
) -> list[NDArray[np.uint8]]:
    """First the last real frames (W, H, h, w, 3), the same in every row, then each future step by step."""
    before = before[:, -BEFORE_SHOWN:]
    count, steps = len(before), rows[0].frames.shape[1]
    size = (LABEL + count * (cell + GAP), HEAD + len(rows) * (cell + CAPTION + GAP) + FOOT)
    pictures = []
    for time in range(-before.shape[1] + 1, steps + 1):
        picture, write = _page(size)
        now = "real frames, up to now" if time <= 0 else f"step {time} of {steps}"
        write((GAP, 6), f"{title}: {now}", INK, 13)
        for number, row in enumerate(rows):
            top = HEAD + number * (cell + CAPTION + GAP)
            for line, words in enumerate(row.title.split(", ")):
                write((GAP, top + cell // 2 - 12 + 17 * line), words, IMAGINED if row.drawn else INK, 12)
            for column in range(count):
                left = LABEL + column * (cell + GAP)
                real = time <= 0
                frame = before[column, time - 1] if real else row.frames[column, time - 1]
                edge = IMAGINED if row.drawn and not real else REAL
                shown = cv2.resize(frame, (cell - 4, cell - 4), interpolation=cv2.INTER_CUBIC)
                picture[top : top + cell, left : left + cell] = edge
                picture[top + 2 : top + cell - 2, left + 2 : left + cell - 2] = shown
                if not real:
                    keys = " ".join(SIGNS.get(name, name) for name in row.held[column][time - 1])
                    write((left + 2, top + cell), keys or "·", QUIET, 12)
        write((GAP, size[1] - FOOT + 3), foot, QUIET, 10)
        pictures.append(np.asarray(write.done()))
    return pictures + [pictures[-1]] * PAUSE


class _Writer:
    """Writes on an array of pixels through Pillow, in the font that comes with Matplotlib."""

    def __init__(self, picture: NDArray[np.uint8]) -> None:
        self._picture = picture
        self._words: list[tuple[tuple[int, int], str, tuple[int, int, int], int]] = []

    def __call__(self, place: tuple[int, int], words: str, colour: tuple[int, int, int], size: int) -> None:
        self._words.append((place, words, colour, size))

    def done(self) -> Any:
        from matplotlib.font_manager import findfont
        from PIL import Image, ImageDraw, ImageFont

        image = Image.fromarray(self._picture)
        pen = ImageDraw.Draw(image)
        for place, words, colour, size in self._words:
            pen.text(place, words, fill=colour, font=ImageFont.truetype(findfont("DejaVu Sans"), size))
        return image


def _page(size: tuple[int, int]) -> tuple[NDArray[np.uint8], _Writer]:
    picture = np.full((size[1] + size[1] % 2, size[0] + size[0] % 2, 3), PAPER, np.uint8)  # video wants even sides
    return picture, _Writer(picture)


def write_strip(pictures: Sequence[NDArray[np.uint8]], path: Path, fps: float) -> None:
    """As the name's ending says: `.gif` (over and over) or `.mp4`."""
    with written_whole(path) as temporary:
        if path.suffix == ".mp4":
            _write_mp4(pictures, temporary, fps)
        else:
            _write_gif(pictures, temporary, fps)


def _write_gif(pictures: Sequence[NDArray[np.uint8]], path: Path, fps: float) -> None:
    from PIL import Image

    images = [Image.fromarray(picture) for picture in pictures]
    together = Image.fromarray(np.concatenate(pictures[:: max(1, len(pictures) // 6)]))
    palette = together.quantize(128, dither=Image.Dither.NONE)
    still = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    still[0].save(
        path,
        format="GIF",
        save_all=True,
        append_images=still[1:],
        duration=round(1000 / fps),
        loop=0,
        optimize=False,
    )


def _write_mp4(pictures: Sequence[NDArray[np.uint8]], path: Path, fps: float) -> None:
    import av

    with av.open(str(path), "w", format="mp4") as container:
        stream: Any = container.add_stream("libx264", rate=Fraction(fps).limit_denominator(1000))
        stream.height, stream.width, stream.pix_fmt = *pictures[0].shape[:2], "yuv420p"
        stream.options = {"crf": "20"}
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
