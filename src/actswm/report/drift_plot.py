"""The paper's figure of step drift: curves over steps, and recorded against zero actions at the last one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..results import Drift, DriftModel
from .colours import shades
from .look import GREY, new_figure, save_figure, styled

LINES: dict[str, dict[str, Any]] = {
    "recorded": {"linestyle": "-", "linewidth": 1.8},
    "zero": {"linestyle": "--", "linewidth": 1.8},
    "shuffled": {"linestyle": ":", "linewidth": 1.8},
    "copy": {"linestyle": "-", "linewidth": 0.9, "alpha": 0.55, "marker": ".", "markersize": 3},
    "random": {"linestyle": (0, (1, 3)), "linewidth": 0.8},
}
"""Models differ in colour, curves in line style."""


def plot_drift(result: Drift, path: Path) -> None:
    """Draw both panels into a PNG."""
    models = result.models
    with styled():
        figure = new_figure(7.5 + 0.9 * len(models), 3.9)
        left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
        _draw_curves(left, models)
        _draw_bars(right, models)
        figure.legend(handles=_legend(models), loc="outside lower center", ncols=5)
        save_figure(figure, path)


def _draw_curves(axes, models: Sequence[DriftModel]) -> None:  # type: ignore[no-untyped-def]
    steps = np.arange(1, len(models[0].curves["recorded"]) + 1)
    for model, colour in _coloured(models):
        for curve, line in LINES.items():
            shade = GREY if curve == "random" else colour
            axes.plot(steps, [each.mean for each in model.curves[curve]], color=shade, **line)
    axes.set(xlabel="step k", ylabel="cosine to the encoded future", title="Step drift")
    axes.set_xlim(1, max(2, steps[-1]))
    axes.set_ylim(top=1.02)


def _legend(models: Sequence[DriftModel]) -> list[Any]:
    """Line styles in black, then the models' colours."""
    from matplotlib.lines import Line2D

    keys = [
        Line2D([], [], color=GREY if curve == "random" else "black", label=curve, **line)
        for curve, line in LINES.items()
    ]
    colours = _coloured(models)
    return keys + [Line2D([], [], color=colour, linewidth=5, label=model.name) for model, colour in colours]


def _draw_bars(axes, models: Sequence[DriftModel]) -> None:  # type: ignore[no-untyped-def]
    width = 0.8 / len(LINES)
    fills = {"recorded": 1.0, "zero": 0.45, "shuffled": 0.22}
    for place, (model, colour) in enumerate(_coloured(models)):
        for number, curve in enumerate(LINES):
            value = model.curves[curve][-1].mean
            at = place + (number - (len(LINES) - 1) / 2) * width
            shade = {"color": colour, "alpha": fills[curve]} if curve in fills else {"color": "#D0D0D0"}
            hatch = {"copy": "///", "random": "..."}.get(curve)
            axes.bar(at, value, 0.92 * width, hatch=hatch, edgecolor="white", linewidth=0, **shade)
            axes.text(
                at,
                max(value, 0) + 0.012,
                f"{curve} {value:.2f}",
                rotation=90,
                ha="center",
                va="bottom",
                fontsize=7,
                color="#333333",
            )
    names = [model.name for model in models]
    tilt: dict[str, Any] = {"rotation": 15, "ha": "right"} if max(map(len, names)) > 14 else {}
    axes.set_xticks(range(len(models)), names, **tilt)
    axes.grid(axis="x", visible=False)
    axes.axhline(0, color="black", linewidth=0.6)
    last = len(models[0].curves["recorded"])
    axes.set(title=f"At step {last}", ylabel="cosine to the encoded future")
    axes.set_yticks(np.arange(0, 1.01, 0.2))
    axes.set_ylim(top=1.25)


def _coloured(models: Sequence[DriftModel]) -> list[tuple[DriftModel, str]]:
    colour = shades(model.name for model in models)
    return [(model, colour[model.name]) for model in models]
