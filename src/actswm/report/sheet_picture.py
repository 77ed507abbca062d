"""The counterfactual sheet as a picture: true frames above those nearest to the predictions, for each future."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .look import COLOURS, new_figure, save_figure, styled

CONTEXT_SHOWN = 4


@dataclass(frozen=True)
class FutureRows:
    """Two rows of the picture: frames (n, h, w, 3) each, under a title."""

    title: str
    true: NDArray[np.uint8]
    predicted: NDArray[np.uint8]


def draw_sheet(
    context: NDArray[np.uint8], steps: Sequence[int], futures: Sequence[FutureRows], title: str, path: Path
) -> None:
    """Context frames (T, h, w, 3) on top, then the futures in two columns of row pairs."""
    shown = len(steps)
    pairs = -(-len(futures) // 2)
    with styled(grid=False):
        width = 2 * shown * 0.95 + 1.2
        figure = new_figure(width, 1.35 + pairs * 2.3)
        parts: Any = figure.subfigures(2, 1, height_ratios=(1.35, pairs * 2.3))
        top, below = parts
        top.suptitle(textwrap.fill(title, int(9 * width)), fontsize=10, fontweight="bold")
        last = context[-CONTEXT_SHOWN:]
        for axes, frame, back in zip(
            top.subplots(1, 2 * shown).flat, _padded(last, 2 * shown), range(2 * shown)
        ):
            _show(axes, frame)
            if frame is not None:
                ago = len(last) - 1 - back
                axes.set_title("last frame, t" if ago == 0 else f"t-{ago}", fontsize=8)
        cells = below.subfigures(pairs, 2, squeeze=False)
        for cell, future, number in zip(cells.T.flat, futures, range(len(futures))):
            cell.suptitle(future.title, fontsize=8, color=COLOURS[number % len(COLOURS)], fontweight="bold")
            grid = cell.subplots(2, shown, squeeze=False)
            for column, step in enumerate(steps):
                _show(grid[0, column], future.true[column])
                _show(grid[1, column], future.predicted[column])
                grid[0, column].set_title(f"t+{step}", fontsize=7, pad=2)
            grid[0, 0].set_ylabel("true", fontsize=8)
            grid[1, 0].set_ylabel("nearest", fontsize=8)
        for cell in list(cells.T.flat)[len(futures) :]:
            cell.set_visible(False)
        save_figure(figure, path)


def _padded(frames: NDArray[np.uint8], count: int) -> list[NDArray[np.uint8] | None]:
    return [*frames, *[None] * (count - len(frames))][:count]


def _show(axes, frame: NDArray[np.uint8] | None) -> None:  # type: ignore[no-untyped-def]
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    if frame is None:
        axes.set_visible(False)
    else:
        axes.imshow(frame, interpolation="nearest")
