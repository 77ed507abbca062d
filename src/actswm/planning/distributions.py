"""Distributions that a search samples plans from and refits to its elites.

A plan has K decisions. Its values are (K, F) floats for `Gaussian`, `Bernoulli` and `Mixed`, and (K,) indices of
choices for `Categorical`. All are immutable; floors keep a distribution from collapsing before the search ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

WARM = 0.5
"""How far `around` leans towards the plan it is given."""


class Distribution(Protocol):
    """Over plans of K decisions."""

    def sample(self, count: int, generator: Generator) -> Tensor:
        """(N, K, ...) plans."""
        ...

    def refit(self, elites: Tensor) -> Distribution:
        """What the elites (E, K, ...) look drawn from."""
        ...

    def around(self, plan: Tensor) -> Distribution:
        """The same kind, leaning towards a plan (K, ...) from which a search is to start."""
        ...


@dataclass(frozen=True)
class Gaussian:
    """Independent normal values: `mean` and `std` (K, F), `floor` the least standard deviation (F or scalar).

    Those of `bounded` (F,) bool, if any, are cut off at 0 and 1.
    """

    mean: Tensor
    std: Tensor
    floor: Tensor
    bounded: Tensor | None = None

    def sample(self, count: int, generator: Generator) -> Tensor:
        noise = torch.randn(count, *self.mean.shape, generator=generator, dtype=self.mean.dtype)
        drawn = self.mean + self.std * noise
        return drawn if self.bounded is None else torch.where(self.bounded, drawn.clamp(0, 1), drawn)

    def refit(self, elites: Tensor) -> Self:
        spread = elites.std(0, correction=0) if elites.numel() else self.std
        return replace(self, mean=elites.mean(0), std=torch.maximum(spread, self.floor))

    def around(self, plan: Tensor) -> Self:
        return replace(self, mean=plan)


@dataclass(frozen=True)
class Bernoulli:
    """Independent buttons, 0 or 1, pressed with `probability` (K, F) no closer to certain than `floor`."""

    probability: Tensor
    floor: float = 0.02

    def sample(self, count: int, generator: Generator) -> Tensor:
        draws = torch.rand(count, *self.probability.shape, generator=generator, dtype=self.probability.dtype)
        return (draws < self.probability).to(draws.dtype)

    def refit(self, elites: Tensor) -> Self:
        return replace(self, probability=elites.mean(0).clamp(self.floor, 1 - self.floor))

    def around(self, plan: Tensor) -> Self:
        leaning = torch.lerp(self.probability, plan, WARM)
        return replace(self, probability=leaning.clamp(self.floor, 1 - self.floor))


@dataclass(frozen=True)
class Mixed:
    """Some of the F values are buttons (`binary`, (F,) bool), the others normal."""

    binary: Tensor
    buttons: Bernoulli
    values: Gaussian

    def sample(self, count: int, generator: Generator) -> Tensor:
        buttons, values = self.buttons.sample(count, generator), self.values.sample(count, generator)
        plans = buttons.new_empty(*buttons.shape[:2], len(self.binary))
        plans[..., self.binary], plans[..., ~self.binary] = buttons, values
        return plans

    def refit(self, elites: Tensor) -> Self:
        buttons, values = elites[..., self.binary], elites[..., ~self.binary]
        return replace(self, buttons=self.buttons.refit(buttons), values=self.values.refit(values))

    def around(self, plan: Tensor) -> Self:
        buttons, values = plan[..., self.binary], plan[..., ~self.binary]
        return replace(self, buttons=self.buttons.around(buttons), values=self.values.around(values))


@dataclass(frozen=True)
class Categorical:
    """One of C choices per decision, with `probability` (K, C), each at least `floor`."""

    probability: Tensor
    floor: float = 0.01

    def sample(self, count: int, generator: Generator) -> Tensor:
        return torch.multinomial(self.probability, count, replacement=True, generator=generator).T

    def refit(self, elites: Tensor) -> Self:
        return self._floored(self._certain(elites).mean(0))

    def around(self, plan: Tensor) -> Self:
        return self._floored(torch.lerp(self.probability, self._certain(plan), WARM))

    def _certain(self, plans: Tensor) -> Tensor:
        return F.one_hot(plans, self.probability.shape[1]).to(self.probability.dtype)

    def _floored(self, probability: Tensor) -> Self:
        share = self.floor * probability.shape[1]
        return replace(self, probability=(1 - share) * probability + self.floor)


@dataclass(frozen=True)
class FromPool:
    """The first `share` of the plans are made of values that were observed, `pool` (P, F); the others, and what is
    refitted, are Gaussian."""

    pool: Tensor
    share: float
    then: Gaussian

    def sample(self, count: int, generator: Generator) -> Tensor:
        observed = int(self.share * count)
        chosen = torch.randint(len(self.pool), (observed, len(self.then.mean)), generator=generator)
        return torch.cat([self.pool[chosen], self.then.sample(count - observed, generator)])

    def refit(self, elites: Tensor) -> Gaussian:
        return self.then.refit(elites)

    def around(self, plan: Tensor) -> Self:
        return replace(self, then=self.then.around(plan))


@dataclass(frozen=True)
class FromLibrary:
    """Plans put together from a list of values (C, F) by prior `weights` (C,); refitting continues as `then`.

    Where `plan` (K, F) is given, half of the decisions are its own.
    """

    values: Tensor
    weights: Tensor
    horizon: int
    then: Mixed
    plan: Tensor | None = None

    def sample(self, count: int, generator: Generator) -> Tensor:
        drawn = torch.multinomial(self.weights, count * self.horizon, replacement=True, generator=generator)
        plans = self.values[drawn].unflatten(0, (count, self.horizon))
        if self.plan is None:
            return plans
        own = torch.rand(count, self.horizon, 1, generator=generator) < WARM
        return torch.where(own, self.plan, plans)

    def refit(self, elites: Tensor) -> Mixed:
        return self.then.refit(elites)

    def around(self, plan: Tensor) -> Self:
        return replace(self, plan=plan)
