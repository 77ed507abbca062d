"""The counterfactual sheet as a picture: what other actions truly show, and beside it what each model expects."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .colours import shades
from .look import GREY, new_figure, save_figure, styled

CONTEXT_SHOWN = 4
CELL = 0.62
"""Inches of a frame. What follows is in frames."""
GAP, GROUP_GAP, ROW_GAP = 0.06, 0.5, 0.85


@dataclass(frozen=True)
class Expectation:
    """Of one model, for each future and shown step (F, n, h, w, 3): drawn by its decoder if it has one, and the
    recorded frames nearest to what it predicts."""

    model: str
    nearest: NDArray[np.uint8]
    drawn: NDArray[np.uint8] | None = None


def draw_sheet(
    context: NDArray[np.uint8],
    steps: Sequence[int],
    futures: Sequence[str],
    true: NDArray[np.uint8],
    expectations: Sequence[Expectation],
    title: str,
    path: Path,
) -> None:
    """Context frames (T, h, w, 3) on top; then a row for each of the `futures`, true (F, n, h, w, 3) and expected."""
    lines = 2 if any(each.drawn is not None for each in expectations) else 1
    pitch, group = 1 + GAP, len(steps) * (1 + GAP) + GROUP_GAP
    row = lines * pitch + ROW_GAP
    width = group * (1 + len(expectations))
    title = textwrap.fill(title, round(width * 8))
    top = 0.3 * (title.count("\n") + 1) + 0.5
    below = top + 1.85
    height = below + row * len(futures)
    with styled(grid=False):
        figure = new_figure(width * CELL, height * CELL)
        figure.set_layout_engine("none")  # every frame's place is known
        axes: Any = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.axis("off")

        def show(frame: NDArray[np.uint8], x: float, y: float) -> None:
            axes.imshow(frame, extent=(x, x + 1, y + 1, y), interpolation="nearest")

        def say(x: float, y: float, words: str, **look: Any) -> None:
            axes.text(x, y, words, **{"fontsize": 8, "va": "center", **look})

        say(GROUP_GAP, 0.15, title, fontsize=9, fontweight="bold", va="top")
        last = context[-CONTEXT_SHOWN:]
        for place, frame in enumerate(last):
            ago = len(last) - 1 - place
            say(GROUP_GAP + place * pitch, top, "t, from here" if ago == 0 else f"t-{ago}", fontsize=7, color=GREY)
            show(frame, GROUP_GAP + place * pitch, top + 0.2)
        colours = {"what happens": "black", **shades(each.model for each in expectations)}
        for number, (name, colour) in enumerate(colours.items()):
            left = GROUP_GAP + number * group
            say(left, below - 0.2, name, fontweight="bold", color=colour)
            for future, words in enumerate(futures):
                upper = below + row * future + 0.6
                middle = upper + (lines - 1) * pitch / 2
                if number == 0:
                    say(left, upper - 0.38, words, fontweight="bold")
                    _row(show, say, steps, true[future], left, middle)
                    continue
                expected = expectations[number - 1]
                if expected.drawn is None:
                    _row(show, say, steps, expected.nearest[future], left, middle, "nearest")
                else:
                    _row(show, say, steps, expected.drawn[future], left, upper, "drawn")
                    _row(show, say, steps, expected.nearest[future], left, upper + pitch, "nearest", named=False)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_visible(False)
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.set_aspect("auto")
        save_figure(figure, path)


def _row(
    show: Any,
    say: Any,
    steps: Sequence[int],
    frames: NDArray[np.uint8],
    x: float,
    y: float,
    label: str = "",
    named: bool = True,
) -> None:
    """Frames (n, h, w, 3) side by side, with what they are at their left and, if `named`, their steps above."""
    for column, (step, frame) in enumerate(zip(steps, frames)):
        show(frame, x + column * (1 + GAP), y)
        if named:
            say(x + column * (1 + GAP) + 0.98, y - 0.12, f"t+{step}", fontsize=6, color=GREY, ha="right")
    if label:
        say(x - 0.14, y + 0.5, label, fontsize=7, color=GREY, rotation=90, ha="center")
