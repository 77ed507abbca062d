"""The first table of the page: every model beside every other, one column a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .blocks import Block, Cell, Colour, Section, Table, Text, figure, heading
from .sources import Sources
from .verdict import EXPLANATION, IGNORES, SENSITIVE, reasons, verdicts

Column = Mapping[str, Cell]


def summary_section(sources: Sources, models: Sequence[str], colour: Colour) -> Section | None:
    """Left out where there is nothing to compare: no result says anything about a model."""
    columns = {
        name: column for name, column in _columns(sources, colour).items() if set(column) & set(models)
    }
    rows = tuple(
        (heading(name, colour), *(column.get(name, Cell("–")) for column in columns.values()))
        for name in models
        if any(name in column for column in columns.values())
    )
    if not rows:
        return None
    caption = "Each model, with 95 % intervals; –: not asked"
    blocks: list[Block] = [Table(caption, ("model", *columns), rows, at_a_glance=True)]
    if sources.drift:
        blocks += [Text(reason) for reason in _reasons(sources)]
        blocks.append(Text(EXPLANATION))
    return Section("summary", "At a glance", "At a glance", tuple(blocks))


def _reasons(sources: Sources) -> list[str]:
    """A sentence for each verdict, and for each model that was trained in the folder that the page is about."""
    said = [sentence for drift in sources.drift for sentence in reasons(drift, sources.fidelity)]
    for run in sources.runs:
        if run.steps is not None and run.losses:
            said.append(
                f"{run.name} is not shipped: it was trained for this page, {run.steps:,} steps on {run.data}. "
                "Its figures are those of a training of that length."
            )
    return list(dict.fromkeys(said))


def _tone(verdict: str) -> str:
    return "good" if verdict == SENSITIVE else "bad" if verdict == IGNORES else ""


def _columns(sources: Sources, colour: Colour) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for drift in sources.drift:
        models = {model.name: model for model in drift.models}
        columns[f"verdict on {drift.data}"] = {
            name: Cell(verdict, tone=_tone(verdict))
            for name, verdict in verdicts(drift, sources.fidelity).items()
        }
        columns[f"gap to shuffled, {drift.data}"] = {
            name: figure(model.curves["shuffled_gap"][-1], True, colour(name))
            for name, model in models.items()
        }
    for fidelity in sources.fidelity:
        columns[f"F, {fidelity.data}"] = {
            model.name: figure(model.of("all")[-1].fidelity, True, colour(model.name))
            for model in fidelity.models
        }
    for plan in (each.plan for each in sources.plans):
        columns[f"success, {plan.task}"] = {
            method.method: Cell(
                f"{method.successes} of {method.episodes}",
                f"{method.low:.0%} to {method.high:.0%}",
                (method.low, method.successes / method.episodes, method.high),
                colour(method.method),
            )
            for method in plan.methods
        }
    for recovery in sources.recoveries:
        columns[f"balanced accuracy, {recovery.data}, {recovery.options.target}"] = {
            name: figure(scores.balanced_accuracy, True, colour(name)) for name, scores in recovery.scores.items()
        }
    return columns
