"""The cross-entropy method: sample plans, keep the cheapest, refit the distribution to them, repeat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from ..errors import UserError
from .distributions import Distribution

Cost = Callable[[Tensor], Tensor]
"""Plans (N, K, ...) -> (N,), lower is better."""


@dataclass(frozen=True)
class SearchSettings:
    """The paper's (Appendix C)."""

    candidates: int = 512
    iterations: int = 6
    elite_fraction: float = 0.125
    keep_best: bool = True
    """The best plan so far takes part in every iteration, so that the best cost never rises."""

    def __post_init__(self) -> None:
        if self.candidates < 1 or self.iterations < 1:
            raise UserError("a search needs at least 1 candidate and 1 iteration")
        if not 0 < self.elite_fraction <= 1:
            raise UserError(f"elites are some and at most all of the candidates, not {self.elite_fraction:g}")

    @property
    def elites(self) -> int:
        return max(1, round(self.candidates * self.elite_fraction))


@dataclass(frozen=True)
class Found:
    """`best` is the cheapest plan of the last iteration, with its `cost`; `elites` (E, K, ...) are the last ones.

    `costs` are the best cost of each iteration; `distribution` is what was refitted last. `first` (N,) are the costs
    of the first iteration's plans, before anything was fitted.
    """

    best: Tensor
    cost: float
    elites: Tensor
    costs: tuple[float, ...]
    distribution: Distribution
    first: Tensor


def screened(rough: Cost, exact: Cost, keep: int) -> Cost:
    """The exact cost of the `keep` plans that are roughly the cheapest, and infinity for the others."""

    def cost(plans: Tensor) -> Tensor:
        close = rough(plans).argsort(stable=True)[:keep]
        return torch.full((len(plans),), torch.inf).index_copy(0, close, exact(plans[close]))

    return cost


def search(
    cost: Cost,
    start: Distribution,
    settings: SearchSettings,
    generator: Generator,
    guess: Tensor | None = None,
) -> Found:
    """Cross-entropy search from `start`. `guess` (K, ...) is tried first and leaned towards: a warm start."""
    distribution = start if guess is None else start.around(guess)
    best, costs, first = guess, [], None
    for _ in range(settings.iterations):
        plans = distribution.sample(settings.candidates, generator)
        if best is not None and settings.keep_best:
            plans[0] = best
        values = cost(plans)
        first = values if first is None else first
        order = torch.argsort(values, stable=True)  # ties by number: the same seed gives the same plan
        elites = plans[order[: settings.elites]]
        best = elites[0]
        costs.append(float(values[order[0]]))
        distribution = distribution.refit(elites)
    assert best is not None and first is not None
    return Found(best, costs[-1], elites, tuple(costs), distribution, first)
