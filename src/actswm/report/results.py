"""What our commands leave behind, read back: the results that the HTML report shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..intervals import Estimate
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
    except (AttributeError, TypeError, ValueError) as error:
        missing = f"is damaged ({error})"
    raise UserError(f"{path}: this {kind} result {missing}; write it again with actswm {kind}")


def _drift(tree: Mapping[str, Any], path: Path) -> Drift:
    names = ("recorded", "zero", "zero_gap", "shuffled", "shuffled_gap", "copy", "random")
    models = tuple(
        DriftModel(
            model["name"], {name: tuple(_estimate(step[name]) for step in model["steps"]) for name in names}
        )
        for model in tree["models"]
    )
    if not models or not all(model.curves["recorded"] for model in models):
        raise ValueError("it holds no step of a model")
    return Drift(_made(tree, tree["seed"]), tree["data"], tree["windows"], models)


def _fidelity(tree: Mapping[str, Any], path: Path) -> Fidelity:
    def row(step: Mapping[str, Any]) -> FidelityRow:
        fidelity, skill, top1 = (_estimate(step[name]) for name in ("fidelity", "skill", "top1"))
        chance = _number(step["chance"])
        return FidelityRow(step["kind"], step["step"], step["cases"], fidelity, skill, top1, chance)

    models = tuple(FidelityModel(model["name"], tuple(map(row, model["steps"]))) for model in tree["models"])
    if not models or not all(model.of("all") for model in models):
        raise ValueError("it holds no step of a model")
    return Fidelity(_made(tree, tree["seed"]), tree["data"], tree["windows"], models)


def _plan(tree: Mapping[str, Any], path: Path) -> Plan:
    methods = tuple(
        PlanMethod(
            row["method"],
            row["episodes"],
            row["successes"],
            row["low"],
            row["high"],
            row["lost"],
            row["chunks_to_success"],
            row["plan_cpu_seconds"],
        )
        for row in tree["methods"]
    )
    films = find_films(path.parent, tree["task"], [method.name for method in methods])
    return Plan(_made(tree, tree.get("seed")), tree["task"], methods, films)


def _recover(tree: Mapping[str, Any], path: Path) -> Recover:
    roll = tree.get("roll")
    options = tree["options"]
    return Recover(
        _made(tree, options["seed"]),
        tree["data"],
        len(tree["window_rows"]),
        options["target"],
        options["guide"],
        tuple(_recover_method(name, one, tree["costs"].get(name)) for name, one in tree["scores"].items()),
        PianoRoll(roll["window"], roll["recorded"], roll["recovered"]) if roll else None,
    )


def _recover_method(name: str, scores: Mapping[str, Any], costs: Mapping[str, Any] | None) -> RecoverMethod:
    controls = tuple(
        ControlRow(
            row["name"],
            row["pressed_share"],
            *(_estimate(row[figure]) for figure in ("precision", "recall", "f1", "balanced_accuracy")),
        )
        for row in scores["controls"]
    )
    return RecoverMethod(
        name,
        _estimate(costs["relative_gap"]) if costs else None,
        (costs["verdict"] or "") if costs else "",
        _estimate(scores["key_accuracy"]),
        _estimate(scores["active_accuracy"]),
        _estimate(scores["balanced_accuracy"]),
        _estimate(scores["f1"]),
        controls,
    )


KINDS: Mapping[str, Callable[[Mapping[str, Any], Path], Result]] = {
    "drift": _drift,
    "fidelity": _fidelity,
    "plan": _plan,
    "recover": _recover,
}


def _made(tree: Mapping[str, Any], seed: int | None) -> Made:
    return Made(tree.get("command", ""), tree.get("commit", ""), seed)


def _estimate(tree: Mapping[str, Any]) -> Estimate:
    return Estimate(*(_number(tree[part]) for part in ("mean", "low", "high")))


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
