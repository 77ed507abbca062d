"""Step drift on the page: a panel for each model, and the gaps at the last step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..intervals import Estimate
from ..results import Drift, DriftModel, Fidelity
from .blocks import (
    Block,
    Cell,
    Colour,
    Heading,
    Image,
    Panel,
    Panels,
    Section,
    Table,
    Text,
    figure,
    heading,
    short,
)
from .line_chart import Axes, Line, line_chart
from .verdict import verdicts

STYLES = {"recorded": "solid", "zero": "dashed", "shuffled": "dotted"}
INTRODUCTION = (
    "Each model sees the same moments and imagines the steps that follow: under the actions that were recorded, "
    "under none (zero), and under those of another moment (shuffled). The higher a curve, the more the imagined "
    "future is like the real one. The tinted gap is action sensitivity: with the wrong actions, the imagined "
    "future must leave the real one. Without a gap the model imagines the same future, whatever is pressed. Copy "
    "(the last frame seen, standing still) and random (an unrelated moment) are what a model has to beat."
)


def drift_section(
    results: Sequence[Drift], truths: Sequence[Fidelity], pictures: Sequence[Image], colour: Colour
) -> Section | None:
    blocks: list[Block] = [Text(INTRODUCTION)]
    for result in results:
        if len(results) > 1:
            blocks.append(Heading(f"On {result.data}"))
        blocks += _blocks(result, verdicts(result, truths), colour)
    blocks += pictures
    if not results and not pictures:
        return None
    return Section("drift", "Step drift", "Other actions, other futures?", tuple(blocks))


def _blocks(result: Drift, verdict: Mapping[str, str], colour: Colour) -> list[Block]:
    steps = len(result.models[0].curves["recorded"])
    drawn = (curve for model in result.models for name, curve in model.curves.items() if "gap" not in name)
    means = [estimate.mean for curve in drawn for estimate in curve]
    lowest = min((mean for mean in means if math.isfinite(mean)), default=0.0)
    axes = Axes("step", "similarity to the real future", min(0.0, lowest), 1.0)
    panels = tuple(_panel(model, verdict[model.name], axes, colour(model.name)) for model in result.models)
    caption = (
        f"{result.windows} windows of {result.data}; mean cosine to the encoded future, {steps} steps ahead."
    )
    return [Panels(panels, caption, result.origin), _gaps(result, steps, colour), _all_steps(result, colour)]


def _panel(model: DriftModel, verdict: str, axes: Axes, colour: int | None) -> Panel:
    def line(name: str) -> Line:
        points = [(step, estimate.mean) for step, estimate in enumerate(model.curves[name], 1)]
        if name in STYLES:
            return Line(name, points, colour, STYLES[name])
        return Line(name, points, None, "thin" if name == "copy" else "thin dotted")

    lines = {name: line(name) for name in (*STYLES, "copy", "random")}
    last = {name: curve[-1].mean for name, curve in model.curves.items()}
    title = f"{model.name}: at the last step, similarity is " + ", ".join(
        f"{short(last[name])} {name}" for name in lines
    )
    between = (lines["recorded"], lines["shuffled"])
    return Panel(f"{model.name} {verdict}", line_chart(title, axes, list(lines.values()), between), colour)


def _gaps(result: Drift, steps: int, colour: Colour) -> Table:
    columns = ("recorded", "zero_gap", "shuffled_gap", "copy")
    rows = tuple(
        (
            heading(model.name, colour),
            *(_cell(model.curves[name][-1], name, colour(model.name)) for name in columns),
        )
        for model in result.models
    )
    head = ("model", "recorded", "gap to zero", "gap to shuffled", "copy")
    return Table(f"At step {steps}, with 95 % intervals over episodes", head, rows, result.origin)


def _cell(estimate: Estimate, name: str, colour: int | None) -> Cell:
    return figure(estimate, bar="gap" in name, colour=colour)


def _all_steps(result: Drift, colour: Colour) -> Table:
    columns = ("recorded", "zero", "shuffled", "zero_gap", "shuffled_gap", "copy", "random")
    rows = tuple(
        (
            heading(model.name, colour),
            Cell(str(step + 1)),
            *(figure(model.curves[name][step]) for name in columns),
        )
        for model in result.models
        for step in range(len(model.curves["recorded"]))
    )
    head = ("model", "step", *(name.replace("_", " ") for name in columns))
    return Table("Every step", head, rows, result.origin, folded=True)
