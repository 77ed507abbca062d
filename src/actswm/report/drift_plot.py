"""The paper's figure of step drift: curves over steps, and recorded against zero actions at the last one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .look import COLOURS, GREY, STYLE, new_figure, save_figure


@dataclass(frozen=True)
class DriftCurves:
    """Mean cosine per step (K,) of a model's `recorded`, `zero`, `shuffled`, `copy` and `random` curves."""

    name: str
    curves: Mapping[str, NDArray[np.floating]]


LINES = {"recorded": "-", "zero": "--", "shuffled": ":"}
"""Models differ in colour, action sequences in line style."""
BARS = ("recorded", "zero", "shuffled", "copy", "random")


def plot_drift(models: Sequence[DriftCurves], path: Path) -> None:
    """Draw both panels into a PNG."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = new_figure(7.5 + 0.9 * len(models), 3.6)
        left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
        _draw_curves(left, models)
        _draw_bars(right, models)
        save_figure(figure, path)


def _draw_curves(axes, models: Sequence[DriftCurves]) -> None:  # type: ignore[no-untyped-def]
    from matplotlib.lines import Line2D

    steps = np.arange(1, len(models[0].curves["recorded"]) + 1)
    for model, colour in zip(models, _colours(len(models))):
        for curve, line in LINES.items():
            axes.plot(steps, model.curves[curve], line, color=colour, linewidth=1.8)
        axes.plot(
            steps, model.curves["copy"], color=colour, linewidth=0.9, alpha=0.55, marker=".", markersize=3
        )
        axes.plot(steps, model.curves["random"], color=GREY, linewidth=0.8, linestyle=(0, (1, 3)))
    keys = [Line2D([], [], color="black", linestyle=line, label=name) for name, line in LINES.items()]
    keys.append(Line2D([], [], color="black", linewidth=0.9, alpha=0.55, marker=".", label="copy"))
    keys.append(Line2D([], [], color=GREY, linewidth=0.8, linestyle=(0, (1, 3)), label="random pair"))
    keys += [
        Line2D([], [], color=colour, linewidth=4, label=model.name)
        for model, colour in zip(models, _colours(len(models)))
    ]
    axes.set(xlabel="step k", ylabel="cosine to the encoded future", title="Step drift", xlim=(1, steps[-1]))
    axes.set_ylim(top=1.02)
    axes.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)


def _draw_bars(axes, models: Sequence[DriftCurves]) -> None:  # type: ignore[no-untyped-def]
    width = 0.8 / len(BARS)
    fills = {"recorded": 1.0, "zero": 0.45, "shuffled": 0.22}
    for place, (model, colour) in enumerate(zip(models, _colours(len(models)))):
        for number, curve in enumerate(BARS):
            value = float(model.curves[curve][-1])
            at = place + (number - (len(BARS) - 1) / 2) * width
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
    axes.set_xticks(range(len(models)), [model.name for model in models])
    axes.grid(axis="x", visible=False)
    axes.axhline(0, color="black", linewidth=0.6)
    last = len(models[0].curves["recorded"])
    axes.set(title=f"At step {last}", ylabel="cosine to the encoded future")
    axes.set_ylim(top=max(1.25, axes.get_ylim()[1]))


def _colours(count: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(count)]
