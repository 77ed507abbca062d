"""Stepwise CEM (Algorithm 1): find the action of each step whose prediction comes nearest to a target latent.

The search is planning's, over Gaussian actions whose first candidates come in part from a pool of observed ones.
All candidates of a search share their whole past, which is prepared once and serves every iteration; each
candidate costs one new token a step. `window` steps may be searched jointly: Algorithm 1 is `window` = 1.

Actions are searched on the CPU, whose random numbers are everywhere the same; latents are on the model's device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from ..errors import UserError
from ..model import Context, WorldModel
from ..planning.cem import SearchSettings, search
from ..planning.distributions import FromPool, Gaussian
from .prior import ActionPrior
from .steps import step_actions


@dataclass(frozen=True)
class RecoverySettings:
    """The paper's (Appendix D), and a floor under sigma so that no control's search ends before it began."""

    candidates: int = 1024
    elites: int = 128
    iterations: int = 8
    pool_share: float = 0.25
    """Part of the first iteration's candidates that is drawn from the action pool."""
    narrowing: float = 0.5
    """Steps after the first start from sigma_gt times this, around the action found before."""
    sigma_floor: float = 0.05
    clip: bool = False
    """Keep binary controls of the candidates in 0..1. The paper does not, and its search may then follow a model's
    predictions to key presses of -8 or 17, which no recording has."""

    def __post_init__(self) -> None:
        if not 1 <= self.elites <= self.candidates or self.iterations < 1:
            raise UserError(
                f"a search needs 1 <= elites <= candidates and an iteration, not {self.elites} of "
                f"{self.candidates}, {self.iterations} times"
            )
        if not 0 <= self.pool_share <= 1 or self.narrowing <= 0 or self.sigma_floor <= 0:
            raise UserError("pool_share must lie in 0..1, narrowing and sigma_floor above 0")

    @property
    def search_settings(self) -> SearchSettings:
        return SearchSettings(self.candidates, self.iterations, self.elites / self.candidates, keep_best=False)


@dataclass(frozen=True)
class FoundSteps:
    """Actions (W, A) of a search, the latents (W, D) they lead to and their squared distances (W,) to the targets.

    `pool_cost` is the mean of what the pool's own candidates of the first iteration cost per step: the measure
    of how much the search gained over ordinary actions.
    """

    actions: Tensor
    latents: Tensor
    costs: Tensor
    pool_cost: float

    @property
    def gain(self) -> float:
        """1 - cost / cost of ordinary actions. 0: no better than those (the model ignores actions, or none fits).

        No measure of being right: on noise a search gains as much as on the model's own game.
        """
        if self.pool_cost <= 0:
            return 0.0
        return min(1.0, max(0.0, 1 - float(self.costs.mean()) / self.pool_cost))


@dataclass(frozen=True)
class Recovered:
    """A whole sequence: actions (K, A), the cost of each step when it was found, and its gain (K,)."""

    actions: Tensor
    costs: Tensor
    gain: Tensor


class Searcher(Protocol):
    """Anything that finds actions towards targets, given the context and the action found before."""

    model: WorldModel
    pool: Tensor

    def find(self, context: Context, targets: Tensor, previous: Tensor | None = None) -> FoundSteps: ...


class StepwiseSearch:
    """Finds actions step by step with one stream of random numbers."""

    def __init__(
        self, model: WorldModel, prior: ActionPrior, settings: RecoverySettings, generator: torch.Generator
    ) -> None:
        self.model = model
        self.settings = settings
        self.mean, self.std, self.pool = (
            torch.from_numpy(part).to(model.dtype) for part in (prior.mean, prior.std, prior.pool)
        )
        self.generator = generator

    @torch.no_grad()
    def find(self, context: Context, targets: Tensor, previous: Tensor | None = None) -> FoundSteps:
        """Actions from a context (B = 1) towards `targets` (W, D), one for each of W steps.

        `previous` (A,) is the action found before, around which the search begins; None at the first step.
        """
        settings, steps = self.settings, len(targets)
        mean, std = (self.mean, self.std) if previous is None else (previous, settings.narrowing * self.std)
        floor = torch.tensor(settings.sigma_floor, dtype=std.dtype)
        around = Gaussian(
            mean.expand(steps, -1),
            torch.maximum(std, floor).expand(steps, -1),
            floor,
            torch.from_numpy(self.model.encoding.vocabulary.binary) if settings.clip else None,
        )
        past = self.model.prepare(context)

        def predict(actions: Tensor) -> Tensor:
            return self.model.rollout(context, step_actions(actions, self.model.encoding)[None], past)[0]

        def cost(candidates: Tensor) -> Tensor:
            return (predict(candidates) - targets).square().sum((-1, -2)).cpu()

        start = FromPool(self.pool, settings.pool_share, around)
        found = search(cost, start, settings.search_settings, self.generator)
        actions = found.elites.mean(0)
        latents = predict(actions[None])[0]
        ordinary = found.first[: int(settings.pool_share * settings.candidates) or None]
        costs = (latents - targets).square().sum(-1).cpu()
        return FoundSteps(actions, latents, costs, float(ordinary.mean()) / steps)


def recover(
    search: Searcher,
    context: Context,
    targets: Tensor,
    *,
    window: int = 1,
    observed: Tensor | None = None,
) -> Recovered:
    """Recover K = len(targets) steps from a context (B = 1).

    After each search the context moves on by what the model predicts (the paper), or by the `observed` latents
    (K, D) where the video is there.
    """
    found: list[FoundSteps] = []
    for first in range(0, len(targets), window):
        previous = found[-1].actions[-1] if found else None
        here = search.find(context, targets[first : first + window], previous)
        latents = here.latents if observed is None else observed[first : first + window]
        done = step_actions(here.actions, search.model.encoding)
        context = context.after(latents[None], done[None], search.model.context_length)
        found.append(here)
    return Recovered(
        torch.cat([part.actions for part in found]),
        torch.cat([part.costs for part in found]),
        torch.cat([torch.full((len(part.costs),), part.gain) for part in found]),
    )
