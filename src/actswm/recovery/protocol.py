"""The protocol of Appendix D: search the actions of sampled windows with a model, and say what it cost.

`far` is the paper's: every step's target is the frame K steps away, and the model's own predictions carry the
context on. `every-step` and `joint` use the video that is there: each step's target is its own frame, and the
context moves on by what was seen; `joint` searches several steps at once.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import UserError
from ..intervals import Estimate, bootstrap
from ..model import Context, WorldModel
from .prior import ActionPrior, Guide
from .search import SearchSettings, StepwiseSearch, advanced, recover
from .steps import step_actions
from .windows import Case, Truth, WindowSample, dataset_of, load_case

Target = Literal["far", "every-step", "joint"]
RANDOM_SEQUENCES = 64
_NOISE = 1e-5
"""Relative difference of costs that counts as rounding."""


@dataclass(frozen=True)
class RecoveryOptions:
    search: SearchSettings = field(default_factory=SearchSettings)
    target: Target = "far"
    joint_window: int = 4
    guide: Guide = "human-guide"
    seed: int = 42

    def __post_init__(self) -> None:
        if self.target not in get_args(Target):
            raise UserError(f"unknown target {self.target!r}; use one of {', '.join(get_args(Target))}")
        if self.joint_window < 1:
            raise UserError(f"a joint search needs at least 1 step, not {self.joint_window}")

    @property
    def window(self) -> int:
        return self.joint_window if self.target == "joint" else 1


@dataclass(frozen=True)
class Recovery:
    """Recovered actions (N, K, A), their confidence (N, K), and J_local of each window, (N,) each.

    `random` is the mean over random sequences from the pool and `spread` their standard deviation;
    `random_search` is what the best pool actions reach with the search's own budget of predictions.
    """

    actions: NDArray[np.float32]
    confidence: NDArray[np.float32]
    cem: NDArray[np.float64]
    random: NDArray[np.float64]
    spread: NDArray[np.float64]
    random_search: NDArray[np.float64]

    @property
    def gap(self) -> Estimate:
        """J_rand - J_cem."""
        return bootstrap(self.random - self.cem)

    @property
    def relative_gap(self) -> Estimate:
        """(J_rand - J_cem) / J_rand: comparable between models with latents of different scale."""
        return bootstrap((self.random - self.cem) / np.maximum(self.random, 1e-12))

    @property
    def random_search_gap(self) -> Estimate:
        return bootstrap(self.random - self.random_search)

    @property
    def verdict(self) -> str | None:
        """Why nothing can be recovered, if so."""
        scale = max(float(self.random.mean()), 1e-12)
        if float(self.spread.mean()) <= _NOISE * scale and abs(self.gap.mean) <= _NOISE * scale:
            return "the model's predictions do not depend on the actions: nothing can be recovered"
        if self.gap.low <= 0:
            return "the search comes no nearer to the target than random actions: nothing can be recovered"
        return None


def run_protocol(
    model: WorldModel,
    sample: WindowSample,
    truth: Truth,
    prior: ActionPrior,
    options: RecoveryOptions,
    progress: Callable[[int], None] = lambda steps: None,
) -> Recovery:
    """Recover every window; `progress` hears the number of steps done so far, of all windows."""
    dataset = dataset_of(sample, model)
    rows = []
    for index in range(len(sample)):
        case = load_case(dataset, model, index)
        guided = prior.for_window(options.guide, truth.actions[index])
        done = index * sample.steps
        rows.append(
            _recover_window(model, case, guided, options, index, lambda k, done=done: progress(done + k))
        )
    return Recovery(*(np.stack(column) for column in zip(*rows)))


def _recover_window(
    model: WorldModel,
    case: Case,
    prior: ActionPrior,
    options: RecoveryOptions,
    index: int,
    progress: Callable[[int], None],
) -> tuple[NDArray, ...]:
    """A window's fields of `Recovery`. Its random numbers depend on nothing but the seed and its index."""
    seed = zlib.crc32(f"{options.seed}/{index}".encode())
    generator = torch.Generator().manual_seed(seed)
    search = StepwiseSearch(model, prior, options.search, generator)
    target = case.future[-1]
    if options.target == "far":
        found = recover(search, case.context, target.expand_as(case.future), progress=progress)
    else:
        found = recover(
            search,
            case.context,
            case.future,
            window=options.window,
            observed=case.future,
            progress=progress,
        )
    steps = len(case.future)
    chosen = torch.randint(len(search.pool), (RANDOM_SEQUENCES, steps), generator=generator)
    random = final_costs(model, case.context, search.pool[chosen], target)
    blind = random_search(search, case.context, target, steps)
    return (
        found.actions.float().numpy(),
        found.confidence.float().numpy(),
        final_costs(model, case.context, found.actions[None], target).double().numpy()[0],
        random.double().mean().numpy(),
        random.double().std(correction=0).numpy(),
        final_costs(model, case.context, blind[None], target).double().numpy()[0],
    )


@torch.no_grad()
def final_costs(model: WorldModel, context: Context, vectors: Tensor, target: Tensor) -> Tensor:
    """J_local (S,): squared distance of the last latent of S whole sequences (S, K, A) to the target (D,)."""
    latents = model.rollout(context, step_actions(vectors, model.encoding)[None])[0, :, -1]
    return (latents - target).square().sum(-1)


@torch.no_grad()
def random_search(search: StepwiseSearch, context: Context, target: Tensor, steps: int) -> Tensor:
    """As the paper's search, but each step takes the best of as many draws from the pool -> (K, A).

    Draws that repeat are predicted once; the outcome is the same.
    """
    model, settings = search.model, search.settings
    draws = settings.candidates * settings.iterations
    found = []
    for _ in range(steps):
        chosen = torch.randint(len(search.pool), (draws,), generator=search.generator)
        candidates = search.pool[chosen].unique(dim=0)
        past = model.prepare(context)
        best, best_cost, best_latent = candidates[0], float("inf"), target
        for part in candidates.split(settings.candidates):
            latents = model.rollout(context, step_actions(part[:, None], model.encoding)[None], past)[
                0, :, -1
            ]
            costs = (latents - target).square().sum(-1)
            lowest = int(costs.argmin())
            if float(costs[lowest]) < best_cost:
                best, best_cost, best_latent = part[lowest], float(costs[lowest]), latents[lowest]
        context = advanced(model, context, best_latent[None], best[None])
        found.append(best)
    return torch.stack(found)
