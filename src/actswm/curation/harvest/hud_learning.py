"""Template packs from a user's own frames: what stays the same while the world behind it moves is drawn over it."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from jinja2 import Environment
from numpy.typing import NDArray

from ...atomic import write_whole
from ...errors import UserError
from ...formats.video import decode
from .named import SUFFIXES
from .packs import HEIGHT, WIDTH, Element, correlation

Luma = NDArray[Any]
MOST = 28
"""Elements of a state: as many as the paper's pack has."""
_FRAMES = 160
_SPREAD = 14
"""Grey levels between the 15th and the 85th percentile over time up to which a pixel stays the same."""
_MOVES = 24.0
"""The whole picture's median spread must be larger: else nothing tells a HUD from a world that stands still."""
_EDGE = 18.0
"""Gradient of a pixel that is part of something drawn."""
_SMALLEST = 60
_WIDEST, _HIGHEST = 110, 56
_SEEN = 0.7
_ELSEWHERE = 0.15
"""Share of the pictures against which an element is checked that may show it."""


@dataclass(frozen=True)
class Proposal:
    """Elements, best first, and the mean picture that they were found in."""

    elements: tuple[Element, ...]
    picture: Luma


def read_frames(paths: Iterable[Path], most: int = _FRAMES) -> list[Luma]:
    """Grey pictures of 640 x 360, evenly from videos and pictures in files and folders."""
    files = [file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    videos = [file for file in files if file.suffix.lower() in SUFFIXES]
    frames = []
    for file in files:
        if file.suffix.lower() in (".png", ".jpg", ".jpeg"):
            picture = cv2.imread(str(file), cv2.IMREAD_GRAYSCALE)
            if picture is None:
                raise UserError(f"{file}: is no picture that can be read")
            frames.append(_sized(picture))
    for video in videos:
        frames += _of_video(video, max(4, most // len(videos)))
    if len(frames) < 8:
        raise UserError(f"{len(frames)} pictures are too few to tell a HUD from the world; give at least 8")
    return [frames[i] for i in np.linspace(0, len(frames) - 1, min(most, len(frames)), dtype=int)]


def learn(
    frames: Sequence[Luma],
    state: str,
    against: Sequence[Luma] = (),
    boxes: Sequence[tuple[int, int, int, int]] = (),
) -> Proposal:
    """Stable, structured regions of the frames; or the stable pixels of the boxes (left, top, width, height) given."""
    stack = np.stack(frames)
    low, middle, high = np.percentile(stack, (15, 50, 85), axis=0)
    spread = high - low
    if float(np.median(spread)) < _MOVES and not boxes:
        raise UserError(
            "the world behind the HUD hardly moves in these pictures: give some from other places, or boxes"
        )
    picture = middle.astype(np.uint8)
    stable = spread <= _SPREAD
    elements = []
    for number, box in enumerate(boxes or _regions(picture, stable)):
        left, top, width, height = box
        part = (slice(top, top + height), slice(left, left + width))
        luma, mask = picture[part], stable[part]
        if mask.sum() < _SMALLEST or luma[mask].std() < 6:
            if boxes:
                raise UserError(f"box {box}: nothing in it stays the same over the pictures; choose another")
            continue
        element = Element(
            f"{number:02}", state, (left, top, width, height), luma.copy(), (mask * 255).astype(np.uint8)
        )
        here, elsewhere = _seen(element, frames), _seen(element, against)
        if boxes or (here >= 0.6 and elsewhere <= _ELSEWHERE):
            elements.append((here - elsewhere + 1e-4 * min(500, int(mask.sum())), element))
    elements.sort(key=lambda pair: -pair[0])
    chosen = tuple(
        Element(f"{i:02}", e.state, e.box, e.luma, e.mask) for i, (_, e) in enumerate(elements[:MOST])
    )
    if not chosen:
        raise UserError(f"nothing that stays the same was found for {state!r}; give more pictures, or boxes")
    return Proposal(chosen, picture)


def write_proposal(path: Path, proposals: Sequence[Proposal]) -> None:
    """A page that shows the elements in their picture, with the numbers by which they can be left out."""
    shown = []
    for proposal in proposals:
        canvas = cv2.cvtColor(proposal.picture, cv2.COLOR_GRAY2BGR)
        for element in proposal.elements:
            left, top, width, height = element.box
            cv2.rectangle(canvas, (left, top), (left + width, top + height), (0, 200, 255), 1)
            cv2.putText(canvas, element.name, (left, max(9, top - 2)), 0, 0.35, (0, 200, 255))
        _, png = cv2.imencode(".png", canvas)
        shown.append(
            (proposal.elements[0].state, len(proposal.elements), base64.b64encode(png.tobytes()).decode())
        )
    page = Environment(autoescape=True).from_string(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Template pack</title>'
        "<h1>Proposed elements</h1>{% for state, count, png in shown %}<h2>{{ state }}: {{ count }} elements</h2>"
        '<img alt="{{ state }}" src="data:image/png;base64,{{ png }}">{% endfor %}'
        "<p>Leave some out with --drop, or give boxes of your own with --box.</p></html>"
    )
    write_whole(path, page.render(shown=shown))


def _regions(picture: Luma, stable: NDArray[np.bool_]) -> list[tuple[int, int, int, int]]:
    """Boxes around what is both stable and drawn, large ones in parts."""
    across = cv2.Sobel(picture, cv2.CV_32F, 1, 0)
    down = cv2.Sobel(picture, cv2.CV_32F, 0, 1)
    drawn = stable & (np.hypot(across, down) > _EDGE)
    joined = cv2.dilate(drawn.astype(np.uint8), np.ones((5, 9), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(joined)
    boxes = []
    for left, top, width, height, _ in stats[1:].tolist():
        rows, columns = -(-height // _HIGHEST), -(-width // _WIDEST)
        for row in range(rows):
            for column in range(columns):
                x, y = left + column * width // columns, top + row * height // rows
                w, h = width // columns, height // rows
                if w >= 8 and h >= 6 and drawn[y : y + h, x : x + w].sum() >= _SMALLEST // 2:
                    boxes.append((x, y, w, h))
    return boxes


def _seen(element: Element, frames: Sequence[Luma]) -> float:
    if not frames:
        return 0.0
    place = element.box[:2]
    return float(
        np.mean([correlation(one, element.luma, element.mask, place) >= _SEEN for one in frames[::2]])
    )


def _of_video(path: Path, count: int) -> list[Luma]:
    total = sum(1 for _ in decode(path))
    wanted = set(np.linspace(0, total - 1, min(count, total), dtype=int).tolist())
    return [
        _sized(np.ascontiguousarray(frame.picture.reformat(format="gray").to_ndarray()))
        for index, frame in enumerate(decode(path))
        if index in wanted
    ]


def _sized(luma: Luma) -> Luma:
    return np.asarray(cv2.resize(luma, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA), np.uint8)
