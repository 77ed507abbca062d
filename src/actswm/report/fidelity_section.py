"""Counterfactual fidelity and the sheets of frames on the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..intervals import Estimate
from ..results import Fidelity, FidelityStep
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

INTRODUCTION = (
    "A future that changes with the actions need not change rightly. The game can tell: it goes back to a recorded "
    "moment, other actions are played, and what truly happens is rendered. F is how often the future imagined under "
    "those actions is nearer to that truth than the future imagined under the recorded ones: one half means that the "
    "actions are ignored. Top-1 is how often, among all the rendered futures, the right one is the nearest. Skill is "
    "0 for standing still and 1 for a perfect prediction."
)
SHEETS = (
    "The same question for the eye: on the left what truly happens under other actions, then what each model expects. "
    "A prediction is shown as the nearest recorded frame and, where a model has a decoder, above that as drawn by it. "
    "A model that ignores its actions expects the same in every row; one that is unsure draws a blur."
)


def fidelity_section(results: Sequence[Fidelity], colour: Colour) -> Section | None:
    if not results:
        return None
    blocks: list[Block] = [Text(INTRODUCTION)]
    for result in results:
        if len(results) > 1:
            blocks.append(Heading(f"On {result.data}"))
        caption = f"{result.windows} windows of {result.data}, all kinds of other actions; bands are 95 % intervals."
        panels = (
            _panel(result, "F over steps", "F", lambda row: row.fidelity, lambda row: 0.5, "ignored", colour),
            _panel(
                result,
                "Top-1 over steps",
                "top-1",
                lambda row: row.top1,
                lambda row: row.chance,
                "chance",
                colour,
            ),
        )
        legend = tuple(heading(model.name, colour) for model in result.models)
        blocks += [
            Panels(panels, caption, result.origin, legend),
            _overview(result, colour),
            _kinds(result, colour),
        ]
    return Section("fidelity", "Fidelity", "Are the other futures right?", tuple(blocks))


def sheet_section(pictures: Sequence[Image]) -> Section | None:
    if not pictures:
        return None
    return Section("sheets", "Frames", "What other actions would show", (Text(SHEETS), *pictures))


def _panel(
    result: Fidelity,
    title: str,
    label: str,
    value: Callable[[FidelityStep], Estimate],
    floor: Callable[[FidelityStep], float],
    floor_name: str,
    colour: Colour,
) -> Panel:
    lines = []
    for model in result.models:
        rows = model.of("all")
        estimates = [value(row) for row in rows]
        lines.append(
            Line(
                "",
                [(row.step, estimate.mean) for row, estimate in zip(rows, estimates)],
                colour(model.name),
                band=[(estimate.low, estimate.high) for estimate in estimates],
            )
        )
    blind = [(row.step, floor(row)) for row in result.models[0].of("all")]
    said = ", ".join(f"{m.name} {short(line.points[-1][1])}" for m, line in zip(result.models, lines))
    svg = line_chart(
        f"{title}; at the last step: {said}",
        Axes("step", label, 0.0, 1.0),
        [*lines, Line(floor_name, blind, None, "thin dashed")],
    )
    return Panel(title, svg)


def _overview(result: Fidelity, colour: Colour) -> Table:
    last = max(row.step for row in result.models[0].steps)
    rows = []
    for model in result.models:
        (row,) = (row for row in model.of("all") if row.step == last)
        own = colour(model.name)
        figures = (figure(row.fidelity, True, own), figure(row.top1, True, own), figure(row.skill))
        rows.append((heading(model.name, colour), *figures, Cell(f"{row.chance:.2f}"), Cell(str(row.cases))))
    head = ("model", "F", "top-1", "skill", "chance of top-1", "cases")
    return Table(f"At step {last}, all other actions, with 95 % intervals", head, tuple(rows), result.origin)


def _kinds(result: Fidelity, colour: Colour) -> Table:
    last = max(row.step for row in result.models[0].steps)
    rows = tuple(
        (
            heading(model.name, colour),
            Cell(row.kind),
            figure(row.fidelity),
            figure(row.top1),
            figure(row.skill),
            Cell(str(row.cases)),
        )
        for model in result.models
        for row in model.steps
        if row.step == last and row.kind != "all"
    )
    head = ("model", "actions", "F", "top-1", "skill", "cases")
    return Table(f"By kind of actions, at step {last}", head, rows, result.origin, folded=True)
