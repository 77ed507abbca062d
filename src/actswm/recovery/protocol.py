"""The protocol of Appendix D: search the actions of sampled windows with a model, and say what it cost.

`far` is the paper's: every step's target is the frame K steps away, and the model's own predictions carry the
context on. `every-step` and `joint` use the video that is there: each step's target is its own frame, and the
context moves on by what was seen; `joint` searches several steps at once. Each goes with CEM, the first two
also with the pool search, which tries every observed action.
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

from ..data import WindowSample
from ..data.loader import sampled_windows
from ..errors import UserError
from ..intervals import Estimate, bootstrap
from ..model import Context, WorldModel
from .pool_search import PoolSearch
from .prior import ActionPrior, Guide
from .search import RecoverySettings, Searcher, StepwiseSearch, recover
from .steps import step_actions
from .windows import Case, Truth, load_case

Target = Literal["far", "every-step", "joint"]
Method = Literal["cem", "pool"]
RANDOM_SEQUENCES = 64
_NOISE = 1e-5
"""Relative difference of costs that counts as rounding."""


@dataclass(frozen=True)
class RecoveryOptions:
    search: RecoverySettings = field(default_factory=RecoverySettings)
    method: Method = "cem"
    target: Target = "far"
    joint_window: int = 4
    guide: Guide = "human-guide"
    seed: int = 42

    def __post_init__(self) -> None:
        if self.target not in get_args(Target):
            raise UserError(f"unknown target {self.target!r}; use one of {', '.join(get_args(Target))}")
        if self.method not in get_args(Method):
            raise UserError(f"unknown search {self.method!r}; use one of {', '.join(get_args(Method))}")
        if self.joint_window < 1:
            raise UserError(f"a joint search needs at least 1 step, not {self.joint_window}")
        if self.method == "pool" and self.target == "joint":
            raise UserError("the pool search takes one step at a time; use target far or every-step with it")

    @property
    def window(self) -> int:
        return self.joint_window if self.target == "joint" else 1

    def searcher(self, model: WorldModel, prior: ActionPrior, generator: torch.Generator) -> Searcher:
        if self.method == "pool":
            return PoolSearch(model, prior)
        return StepwiseSearch(model, prior, self.search, generator)


@dataclass(frozen=True)
class Recovery:
    """Recovered actions (N, K, A), their gain (N, K), and J_local of each window, (N,) each.

    `random` is the mean over random sequences from the pool and `spread` their standard deviation;
    `random_search` is what the best pool actions reach with the search's own budget of predictions.
    """

    actions: NDArray[np.float32]
    gain: NDArray[np.float32]
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
        """What speaks against the search, if anything does."""
        scale = max(float(self.random.mean()), 1e-12)
        if float(self.spread.mean()) <= _NOISE * scale and abs(self.gap.mean) <= _NOISE * scale:
            return "the model's predictions do not depend on the actions: nothing can be recovered"
        if self.gap.low <= 0:
            return "the actions found end no nearer to the window's last frame than random ones"
        return None


def run_protocol(
    model: WorldModel,
    sample: WindowSample,
    truth: Truth,
    prior: ActionPrior,
    options: RecoveryOptions,
    progress: Callable[[int], None] = lambda windows: None,
) -> Recovery:
    """Recover every window; `progress` hears the number of windows done."""
    dataset = sampled_windows(sample, model)
    rows = []
    for index in range(len(sample)):
        case = load_case(dataset, model, index)
        guided = prior.for_window(options.guide, truth.actions[index])
        rows.append(_recover_window(model, case, guided, options, index))
        progress(index + 1)
    return Recovery(*(np.stack(column) for column in zip(*rows)))


def _recover_window(
    model: WorldModel,
    case: Case,
    prior: ActionPrior,
    options: RecoveryOptions,
    index: int,
) -> tuple[NDArray, ...]:
    """A window's fields of `Recovery`. Its random numbers depend on nothing but the seed and its index."""
    seed = zlib.crc32(f"{options.seed}/{index}".encode())
    generator = torch.Generator().manual_seed(seed)
    search = options.searcher(model, prior, generator)
    target = case.future[-1]
    far = target.expand_as(case.future)
    if options.target == "far":
        found = recover(search, case.context, far)
    else:
        found = recover(
            search,
            case.context,
            case.future,
            window=options.window,
            observed=case.future,
        )
    chosen = torch.randint(len(search.pool), (RANDOM_SEQUENCES, len(far)), generator=generator)
    random = final_costs(model, case.context, search.pool[chosen], target)
    budget = options.search.candidates * options.search.iterations
    blind = recover(PoolSearch(model, prior, budget, generator), case.context, far)
    return (
        found.actions.float().numpy(),
        found.gain.float().numpy(),
        final_costs(model, case.context, found.actions[None], target).double().numpy()[0],
        random.double().mean().numpy(),
        random.double().std(correction=0).numpy(),
        final_costs(model, case.context, blind.actions[None], target).double().numpy()[0],
    )


@torch.no_grad()
def final_costs(model: WorldModel, context: Context, vectors: Tensor, target: Tensor) -> Tensor:
    """J_local (S,): squared distance of the last latent of S whole sequences (S, K, A) to the target (D,)."""
    latents = model.rollout(context, step_actions(vectors, model.encoding)[None])[0, :, -1]
    return (latents - target).square().sum(-1).cpu()
