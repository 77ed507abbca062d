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

    def __post_init__(self) -> None:
        if self.candidates < 1 or self.iterations < 1:
            raise UserError("a search needs at least 1 candidate and 1 iteration")
        if not 0 < self.elite_fraction <= 1:
            raise UserError(f"elite_fraction is above 0 and at most 1, not {self.elite_fraction:g}")

    @property
    def elites(self) -> int:
        return max(1, round(self.candidates * self.elite_fraction))


@dataclass(frozen=True)
class Found:
    """`best` is the cheapest plan of all iterations, with its `cost`; `elites` (E, K, ...) are the last ones.

    `costs` are the best cost after each iteration; `distribution` is what was refitted last.
    """

    best: Tensor
    cost: float
    elites: Tensor
    costs: tuple[float, ...]
    distribution: Distribution


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
    """Cross-entropy search from `start`. `guess` (K, ...) is tried first and leaned towards: a warm start.

    The best plan so far takes part in every iteration, so that the best cost never rises.
    """
    distribution = start if guess is None else start.around(guess)
    best, costs = guess, []
    for _ in range(settings.iterations):
        plans = distribution.sample(settings.candidates, generator)
        if best is not None:
            plans[0] = best
        values = cost(plans)
        order = torch.argsort(values, stable=True)  # ties by number: the same seed gives the same plan
        elites = plans[order[: settings.elites]]
        best = elites[0]
        costs.append(float(values[order[0]]))
        distribution = distribution.refit(elites)
    assert best is not None
    return Found(best, costs[-1], elites, tuple(costs), distribution)
