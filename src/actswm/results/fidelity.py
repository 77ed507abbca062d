"""What `actswm fidelity` finds: predictions under other actions against what those actions truly do."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..intervals import NOTHING, Estimate
from ..origin import UNKNOWN, Origin
from .form import Count


@dataclass(frozen=True)
class Spread:
    """NaN where nothing was measured."""

    median: float = math.nan
    ninth: float = math.nan
    """Nine of ten are below."""


@dataclass(frozen=True)
class FidelityStep:
    """Figures of one kind of alternative (`all`: every kind) at one step; NaN where there was no case.

    `distinct` of the `cases` look different from the recorded future: F is over those. `chance` is the top-1 share
    of a blind guess: more than 1/8 where futures look the same.
    """

    kind: str
    step: Count
    cases: Count
    fidelity: Estimate
    skill: Estimate
    top1: Estimate
    chance: float
    distinct: Count | None = None
    distance: Spread = Spread()
    """Map units between the true pose and that of the recorded frame nearest to the prediction."""
    angle: Spread = Spread()
    """Degrees between their headings."""
    place: Estimate = NOTHING
    """How often they are in the same room."""


@dataclass(frozen=True)
class FidelityModel:
    name: str
    steps: tuple[FidelityStep, ...]

    def of(self, kind: str) -> tuple[FidelityStep, ...]:
        return tuple(step for step in self.steps if step.kind == kind)


@dataclass(frozen=True)
class Fidelity:
    data: str
    windows: Count
    models: tuple[FidelityModel, ...]
    episodes: Count | None = None
    split: str = ""
    context: Count | None = None
    horizon: Count | None = None
    gallery: Count | None = None
    origin: Origin = UNKNOWN

    def __post_init__(self) -> None:
        if not self.models or not all(model.of("all") for model in self.models):
            raise ValueError("it holds no step of a model")
        last = max(step.step for model in self.models for step in model.steps)
        if any([step.step for step in model.of("all")].count(last) != 1 for model in self.models):
            raise ValueError("its models do not end at the same step")
