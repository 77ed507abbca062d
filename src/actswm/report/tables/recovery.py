"""The table of recovery in several games."""

from __future__ import annotations

from collections.abc import Sequence

from ...results import Costs, Recover, Scores
from .markdown import table, whole, with_interval
from .rows import Names, Source, of_kind, own_name


def recover_table(sources: Sequence[Source], names: Names, only: Sequence[str]) -> str:
    rows = []
    for source, result in of_kind(sources, Recover):
        costs = {own_name(name): cost for name, cost in result.costs.items()}
        scores = {own_name(name): (costs.get(own_name(name)), score) for name, score in result.scores.items()}
        for label, (cost, score) in names.ordered(scores, only=only):
            rows.append((names.folder(source.folder), label, *_costs(cost), *_scores(score)))
    head = (
        "gap",
        "relative gap",
        "random search's gap",
        "key accuracy",
        "active accuracy",
        "balanced accuracy",
        "F1",
    )
    return table(("game", "method", *head), rows)


def _costs(costs: Costs | None) -> tuple[str, ...]:
    if costs is None:
        return "", "", ""
    gap = f"{whole(costs.gap.mean)} ±{whole(costs.gap.half_width)}"
    return gap, with_interval(costs.relative_gap), whole(costs.random_search_gap.mean)


def _scores(scores: Scores) -> tuple[str, ...]:
    figures = (scores.key_accuracy, scores.active_accuracy, scores.balanced_accuracy, scores.f1)
    return tuple(with_interval(figure) for figure in figures)
