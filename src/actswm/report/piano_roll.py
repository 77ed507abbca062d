"""A piano roll: one lane a control over time, what was recorded above what was recovered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .colours import PALETTE
from .look import new_figure, save_figure

RECORDED, HIT, FALSE = PALETTE[7], PALETTE[2], PALETTE[1]


def write_piano_roll(
    out: Path,
    names: Sequence[str],
    recorded: NDArray[np.floating],
    recovered: NDArray[np.floating],
    title: str = "",
) -> None:
    """Recorded and recovered step vectors (K, A) of one window as PNG.

    Each lane's upper half shows recorded presses, its lower half recovered ones: green where they agree,
    orange where nothing was pressed. Controls that neither side ever presses are left out.
    """
    from matplotlib.patches import Patch

    used = np.flatnonzero(((recorded > 0.5) | (recovered > 0.5)).any(0))
    names = [names[int(control)] for control in used]
    true, mine = recorded[:, used] > 0.5, recovered[:, used] > 0.5
    steps, controls = true.shape
    figure = new_figure(max(6.0, 2.4 + 0.26 * steps), 1.3 + 0.34 * controls)
    axes = figure.add_subplot()
    for lane in range(controls):
        if lane % 2:
            axes.axhspan(lane - 0.5, lane + 0.5, color="#f3f4f6", zorder=0)
        for presses, offset, colour in (
            (true[:, lane], -0.42, RECORDED),
            (mine[:, lane] & true[:, lane], 0.02, HIT),
            (mine[:, lane] & ~true[:, lane], 0.02, FALSE),
        ):
            bars = [(int(step), 1) for step in np.flatnonzero(presses)]
            axes.broken_barh(bars, (lane + offset, 0.4), facecolors=colour, edgecolors="white", linewidth=0.5)
    axes.set_xlim(0, steps)
    axes.set_ylim(controls - 0.5, -0.5)
    axes.set_yticks(range(controls), names)
    axes.set_xlabel("model step")
    axes.set_title(title, loc="left", fontsize=10)
    patches = {"recorded": RECORDED, "recovered, right": HIT, "recovered, not pressed": FALSE}
    figure.legend(
        handles=[Patch(color=colour, label=label) for label, colour in patches.items()],
        loc="outside lower center",
        ncols=3,
        frameon=False,
    )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    save_figure(figure, out)
