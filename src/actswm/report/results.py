"""What our commands leave behind, read back: the results that the HTML report shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..intervals import Estimate
from .fields import count, maybe_number, number, part, parts, rows, seed, share, text
from .films import Film, find_films


@dataclass(frozen=True)
class Made:
    """What made a figure; empty or None where the file does not say."""

    command: str
    commit: str
    seed: int | None


@dataclass(frozen=True)
class DriftModel:
    """Estimates per step of `recorded`, `zero`, `zero_gap`, `shuffled`, `shuffled_gap`, `copy` and `random`."""

    name: str
    curves: Mapping[str, tuple[Estimate, ...]]


@dataclass(frozen=True)
class Drift:
    made: Made
    data: str
    windows: int
    models: tuple[DriftModel, ...]


@dataclass(frozen=True)
class FidelityRow:
    kind: str
    step: int
    cases: int
    fidelity: Estimate
    skill: Estimate
    top1: Estimate
    chance: float


@dataclass(frozen=True)
class FidelityModel:
    name: str
    rows: tuple[FidelityRow, ...]

    def of(self, kind: str) -> tuple[FidelityRow, ...]:
        return tuple(row for row in self.rows if row.kind == kind)


@dataclass(frozen=True)
class Fidelity:
    made: Made
    data: str
    windows: int
    models: tuple[FidelityModel, ...]


@dataclass(frozen=True)
class PlanMethod:
    """`low` and `high` bound the success rate (Wilson, 95 %)."""

    name: str
    episodes: int
    successes: int
    low: float
    high: float
    lost: int
    chunks_to_success: float | None
    plan_cpu_seconds: float


@dataclass(frozen=True)
class Plan:
    made: Made
    task: str
    methods: tuple[PlanMethod, ...]
    films: tuple[Film, ...]


@dataclass(frozen=True)
class ControlRow:
    name: str
    pressed_share: float
    precision: Estimate
    recall: Estimate
    f1: Estimate
    balanced_accuracy: Estimate


@dataclass(frozen=True)
class RecoverMethod:
    """`relative_gap` is None for baselines, which search nothing."""

    name: str
    relative_gap: Estimate | None
    verdict: str
    key_accuracy: Estimate
    active_accuracy: Estimate
    balanced_accuracy: Estimate
    f1: Estimate
    controls: tuple[ControlRow, ...]


@dataclass(frozen=True)
class PianoRoll:
    """Lanes of 0 and 1 per control: one window as recorded, and as each method recovered it."""

    window: int
    recorded: Mapping[str, str]
    recovered: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Recover:
    made: Made
    data: str
    windows: int
    target: str
    guide: str
    methods: tuple[RecoverMethod, ...]
    roll: PianoRoll | None


Result = Drift | Fidelity | Plan | Recover


def parse_result(path: Path, tree: Mapping[str, Any]) -> Result:
    """A JSON file of a known `kind` as a typed result."""
    kind = tree["kind"]
    try:
        return KINDS[kind](tree, path)
    except KeyError as error:
        missing = f"has no field {error}"
    except (OSError, TypeError, ValueError) as error:
        missing = f"is damaged ({error})"
    raise UserError(f"{path}: this {kind} result {missing}; write it again with actswm {kind}")


def _drift(tree: Mapping[str, Any], path: Path) -> Drift:
    names = ("recorded", "zero", "zero_gap", "shuffled", "shuffled_gap", "copy", "random")
    models = tuple(
        DriftModel(
            text(model, "name"),
            {name: tuple(_estimate(step, name) for step in parts(model, "steps")) for name in names},
        )
        for model in parts(tree, "models")
    )
    if not models or not all(model.curves["recorded"] for model in models):
        raise ValueError("it holds no step of a model")
    return Drift(_made(tree, seed(tree)), text(tree, "data"), count(tree, "windows"), models)


def _fidelity(tree: Mapping[str, Any], path: Path) -> Fidelity:
    def row(step: Mapping[str, Any]) -> FidelityRow:
        fidelity, skill, top1 = (_estimate(step, name) for name in ("fidelity", "skill", "top1"))
        place = text(step, "kind"), count(step, "step"), count(step, "cases")
        return FidelityRow(*place, fidelity, skill, top1, number(step, "chance"))

    models = tuple(
        FidelityModel(text(model, "name"), tuple(map(row, parts(model, "steps"))))
        for model in parts(tree, "models")
    )
    if not models or not all(model.of("all") for model in models):
        raise ValueError("it holds no step of a model")
    last = max(row.step for model in models for row in model.rows)
    if any([row.step for row in model.of("all")].count(last) != 1 for model in models):
        raise ValueError("its models do not end at the same step")
    return Fidelity(_made(tree, seed(tree)), text(tree, "data"), count(tree, "windows"), models)


def _plan(tree: Mapping[str, Any], path: Path) -> Plan:
    methods = tuple(
        PlanMethod(
            text(row, "method"),
            count(row, "episodes", least=1),
            count(row, "successes"),
            share(row, "low"),
            share(row, "high"),
            count(row, "lost"),
            maybe_number(row, "chunks_to_success"),
            number(row, "plan_cpu_seconds"),
        )
        for row in parts(tree, "methods")
    )
    task = text(tree, "task")
    return Plan(
        _made(tree, seed(tree)),
        task,
        methods,
        find_films(path.parent, task, [method.name for method in methods]),
    )


def _recover(tree: Mapping[str, Any], path: Path) -> Recover:
    options, costs, scores = part(tree, "options"), part(tree, "costs"), part(tree, "scores")
    return Recover(
        _made(tree, seed(options)),
        text(tree, "data"),
        len(rows(tree, "window_rows")),
        text(options, "target"),
        text(options, "guide"),
        tuple(
            _recover_method(name, part(scores, name), part(costs, name) if costs.get(name) else None)
            for name in scores
        ),
        _roll(part(tree, "roll")) if tree.get("roll") else None,
    )


def _recover_method(name: str, scores: Mapping[str, Any], costs: Mapping[str, Any] | None) -> RecoverMethod:
    figures = ("precision", "recall", "f1", "balanced_accuracy")
    controls = tuple(
        ControlRow(
            text(row, "name"),
            number(row, "pressed_share"),
            *(_estimate(row, figure) for figure in figures),
        )
        for row in parts(scores, "controls")
    )
    return RecoverMethod(
        name,
        _estimate(costs, "relative_gap") if costs else None,
        text(costs, "verdict", "") if costs else "",
        _estimate(scores, "key_accuracy"),
        _estimate(scores, "active_accuracy"),
        _estimate(scores, "balanced_accuracy"),
        _estimate(scores, "f1"),
        controls,
    )


def _roll(tree: Mapping[str, Any]) -> PianoRoll:
    def lanes(of: Mapping[str, Any]) -> dict[str, str]:
        return {control: text(of, control) for control in of}

    recorded, recovered = lanes(part(tree, "recorded")), part(tree, "recovered")
    methods = {method: lanes(part(recovered, method)) for method in recovered}
    for method, found in methods.items():
        if set(found) != set(recorded):
            raise ValueError(f"the roll of {method} has other controls than were recorded")
    return PianoRoll(count(tree, "window"), recorded, methods)


KINDS: Mapping[str, Callable[[Mapping[str, Any], Path], Result]] = {
    "drift": _drift,
    "fidelity": _fidelity,
    "plan": _plan,
    "recover": _recover,
}


def _made(tree: Mapping[str, Any], number: int | None) -> Made:
    return Made(text(tree, "command", ""), text(tree, "commit", ""), number)


def _estimate(tree: Mapping[str, Any], name: str) -> Estimate:
    return Estimate(*(number(part(tree, name), each) for each in ("mean", "low", "high")))
