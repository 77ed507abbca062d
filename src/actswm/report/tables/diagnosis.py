"""Tables of step drift, of Appendix E's bound, and of fidelity."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...errors import UserError
from ...results import Drift, DriftModel, Fidelity, FidelityModel
from .markdown import over_steps, percent, share, table, whole
from .rows import Names, Source, of_kind, own_name

DRIFT_STEPS = (1, 4, 8, 16)
FIDELITY_STEPS = (1, 2, 4, 8)
SPREAD = 8
"""The step whose interval is shown."""


def drift_table(sources: Sequence[Source], names: Names, only: Sequence[str]) -> str:
    columns = ("recorded", "zero_gap", "shuffled_gap", "copy")
    rows = (
        (label, *(over_steps(model.curves[column], DRIFT_STEPS, SPREAD) for column in columns))
        for label, model in _drift(sources, names, only)
    )
    return table((_folder(sources, names), *(column.replace("_", " ") for column in columns)), rows)


def paper_table(sources: Sequence[Source], names: Names, only: Sequence[str]) -> str:
    """The paper's figures at its last step beside ours."""
    paper = names.paper()
    if missing := [name for name in only if name not in paper]:
        raise UserError(f"the paper has no figures for {', '.join(missing)}")
    rows = []
    for name in only or paper:
        ((label, model),) = _drift(sources, names, [name])
        ours = (model.curves[column][-1].mean for column in ("recorded", "zero", "zero_gap"))
        rows.append((label, " ".join(share(value, 3) for value in paper[name]), " ".join(map(share, ours))))
    last = max(len(model.steps) for _, model in _drift(sources, names, only))
    head = ("model", "paper: recorded, zero, gap", f"ours, {_folder(sources, names)}, step {last}")
    return table(head, rows)


def bound_table(sources: Sequence[Source], names: Names, only: Sequence[str]) -> str:
    rows = []
    for label, model in _drift(sources, names, only):
        if model.bound:
            bounds = (model.bound.encoded, model.bound.predicted)
            errors = ", ".join(share(bound.mean_error) for bound in bounds)
            slopes = ", ".join(share(bound.region.lipschitz) for bound in bounds)
            positive = ", ".join(percent(bound.positive_share, 1) for bound in bounds)
            fails = sum(bound.region.violations for bound in bounds)
            rows.append((label, errors, slopes, positive, str(fails)))
    head = ("eps", "L (region)", "pairs with a positive bound", "fails")
    return table((f"{_folder(sources, names)}, encoded and predicted transitions", *head), rows)


def fidelity_table(sources: Sequence[Source], names: Names, only: Sequence[str]) -> str:
    rows = []
    for label, model in _fidelity(sources, names, only):
        figures = (
            [getattr(step, figure) for step in model.of("all")] for figure in ("fidelity", "skill", "top1")
        )
        rows.append((label, *(over_steps(figure, FIDELITY_STEPS, SPREAD) for figure in figures)))
    return table((_folder(sources, names), "F", "skill", "top-1"), rows)


def seeds_table(sources: Sequence[Source], names: Names, only: Sequence[str]) -> str:
    """Means over models that differ in their training seed alone, which their names end with: `contrast-1`."""
    seeds: dict[str, list[FidelityModel]] = {}
    for _, result in of_kind(sources, Fidelity):
        for model in result.models:
            variant, _, seed = own_name(model.name).rpartition("-")
            if seed.isdigit():
                seeds.setdefault(variant, []).append(model)
    rows = [
        (label, str(len(models)), *(_over_seeds(models, figure) for figure in ("fidelity", "skill", "top1")))
        for label, models in names.ordered(seeds, sources[0].folder, only)
    ]
    return table((_folder(sources, names), "seeds", "F", "skill", "top-1"), rows)


def _over_seeds(models: Sequence[FidelityModel], figure: str) -> str:
    """Means at each step, and in brackets the least and the most of any seed at the step `SPREAD`."""
    of_seed = [[getattr(step, figure).mean for step in model.of("all")] for model in models]
    means = (share(sum(values) / len(values)) for values in zip(*(_at_steps(seed) for seed in of_seed)))
    last = [seed[min(SPREAD, len(seed)) - 1] for seed in of_seed]
    return f"{' '.join(means)} ({share(min(last))} to {share(max(last))})"


def _at_steps(values: Sequence[float]) -> list[float]:
    return [values[step - 1] for step in FIDELITY_STEPS if step <= len(values)]


def pose_table(sources: Sequence[Source], names: Names, only: Sequence[str]) -> str:
    rows = []
    for label, model in _fidelity(sources, names, only):
        steps = model.of("all")
        shown = [step for step in steps if step.step in FIDELITY_STEPS]
        if math.isnan(shown[0].place.mean):
            continue
        room = over_steps([step.place for step in steps], FIDELITY_STEPS, SPREAD)
        off = (
            " ".join(whole(getattr(step, what).median) for step in shown) for what in ("distance", "angle")
        )
        rows.append((label, room, *off))
    head = ("right room", "map units off, median", "degrees off, median")
    return table((_folder(sources, names), *head), rows)


def _drift(sources: Sequence[Source], names: Names, only: Sequence[str]) -> list[tuple[str, DriftModel]]:
    found = {own_name(model.name): model for _, result in of_kind(sources, Drift) for model in result.models}
    return names.ordered(found, sources[0].folder, only)


def _fidelity(
    sources: Sequence[Source], names: Names, only: Sequence[str]
) -> list[tuple[str, FidelityModel]]:
    found = {
        own_name(model.name): model for _, result in of_kind(sources, Fidelity) for model in result.models
    }
    return names.ordered(found, sources[0].folder, only)


def _folder(sources: Sequence[Source], names: Names) -> str:
    return names.folder(sources[0].folder)
