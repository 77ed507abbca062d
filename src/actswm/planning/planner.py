"""A plan: the chunks whose imagined future tracks the reference best, found by search in a world model."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..chunks import ChunkLibrary
from ..errors import UserError
from ..model import Context, WorldModel
from ..model.tree import PrefixTree
from .cem import Cost, Found, SearchSettings, screened, search
from .costs import COSTS
from .phase import PHASES
from .spaces import space_of

BEGINNINGS = ("previous", "reference")

PRECISIONS = ("fp32", "bf16")
SPARE = 1.5
"""So many times the elites of a search in bf16 are judged in fp32."""


@dataclass(frozen=True)
class PlanSettings:
    """The paper's (Appendix C), but for `batch`: any value gives the same plan, and smaller ones stay
    in a processor's caches (at the paper's model size 512 costs a quarter more than 128)."""

    search: str = "categorical"
    """`categorical` or `library-init` (the paper's)."""
    cost: str = "tracking"
    """`tracking` (the paper's) or `final`."""
    phase: str = "clock"
    """How goals advance along the reference: by the `clock` (the paper's) or by `sight`."""
    horizon: int = 12
    candidates: int = 512
    iterations: int = 6
    elite_fraction: float = 0.125
    batch: int = 256
    warm_start: bool = True
    """Begin a search at the previous plan, shifted by the chunk that was executed."""
    begin: str = "previous"
    """With a warm start: at the `previous` plan, or at the `reference`'s own keys from where the episode is in it."""
    margin: float = 0.0
    """With the reference's keys: they are left for a plan that costs less by so large a share."""
    precision: str = "fp32"
    """Of the imagined futures: `fp32`, or `bf16`, in which possible elites are judged once more in fp32."""
    seed: int = 0

    def __post_init__(self) -> None:
        for field, known in (("cost", COSTS), ("phase", PHASES), ("begin", BEGINNINGS), ("precision", PRECISIONS)):
            if getattr(self, field) not in known:
                raise UserError(f"unknown {field} {getattr(self, field)!r}; known: {', '.join(known)}")
        if self.horizon < 1 or self.batch < 1:
            raise UserError("horizon and batch are at least 1")

    @property
    def search_settings(self) -> SearchSettings:
        return SearchSettings(self.candidates, self.iterations, self.elite_fraction)


@dataclass(frozen=True)
class Plan:
    """`raw` (K, R, A) are the raw actions of the K chunks, of which the first is executed."""

    raw: NDArray[np.float32]
    names: tuple[str, ...]
    cost: float
    found: Found
    cpu_seconds: float


class Planner:
    """Searches plans for one model over one chunk library; keeps nothing between plans.

    The search is on the CPU, whose random numbers are everywhere the same; the futures are on the model's device.
    """

    def __init__(self, model: WorldModel, library: ChunkLibrary, settings: PlanSettings) -> None:
        check_fit(model, library)
        self.model = model
        self.settings = settings
        self.space = space_of(settings.search, library)
        self._rough = copy.deepcopy(model).to(torch.bfloat16) if settings.precision == "bf16" else None

    @torch.inference_mode()
    def plan(
        self, context: Context, goals: Tensor, step: int = 0, previous: Plan | None = None, keys: Tensor | None = None
    ) -> Plan:
        """The best plan from a context (B = 1) towards goals (K, D).

        `step` is the number of the decision in its episode: together with the seed it fixes the search. `keys` (K, ...)
        are the reference's own, as a plan: where they are given, the search begins there.
        """
        began = time.process_time()
        settings = self.settings
        seed = np.random.SeedSequence([settings.seed, step]).generate_state(1, np.uint64)[0]
        generator = torch.Generator().manual_seed(int(seed >> 1))
        cost, guess = self.cost(context, goals), keys
        if guess is None and previous is not None and settings.warm_start:
            guess = torch.cat([previous.found.best[1:], previous.found.best[-1:]])
        found = search(
            cost,
            self.space.start(settings.horizon),
            settings.search_settings,
            generator,
            guess,
        )
        if keys is not None and settings.margin:
            own = float(cost(keys[None]))
            if found.cost > (1 - settings.margin) * own:
                found = replace(found, best=keys, cost=own)
        raw = self.space.raw(found.best)
        seconds = time.process_time() - began
        return Plan(raw, self.space.names(found.best), found.cost, found, seconds)

    def step_actions(self, plans: Tensor) -> Tensor:
        """Plans (N, K, ...) as the model takes them: (N, K, A')."""
        raw = self.space.raw(plans)
        return torch.from_numpy(self.model.encoding.step_actions(raw.reshape(len(raw), -1, raw.shape[-1])))

    def cost(self, context: Context, goals: Tensor) -> Cost:
        """The function that a search minimises: plans (N, K, ...) -> (N,). It prepares the past once.

        In bf16 it is infinite but for the cheapest plans, which are judged in fp32: a search goes where its
        elites are, so that a few plans that rounding has swapped lead it elsewhere.
        """
        exact = self.cost_in(self.model, context, goals)
        if self._rough is None:
            return exact
        rough = self.cost_in(self._rough, context, goals)
        return screened(rough, exact, round(SPARE * self.settings.search_settings.elites))

    def cost_in(self, model: WorldModel, context: Context, goals: Tensor) -> Cost:
        """Costs of plans in the futures that a model imagines for them."""
        measure = COSTS[self.settings.cost]
        context = Context(context.latents.to(model.dtype), context.actions).to(model.device)
        past, goals = model.prepare(context), goals.to(model.device)

        def cost(plans: Tensor) -> Tensor:
            steps = self.step_actions(plans)
            # in lexical order plans that begin alike come together, into the same batch
            chunks, distinct, copies = _lexical(plans)
            costs = []
            for part in torch.arange(len(distinct)).split(self.settings.batch):
                tree = PrefixTree.of(chunks[part])
                futures = model.rollout_tree(context, steps[distinct[part]], tree, past)
                costs.append(measure(futures.float(), goals))
            return torch.cat(costs).cpu()[copies]

        return cost


def _lexical(plans: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Plans (N, K, ...) as the M distinct ones in lexical order: (M, K) numbers that are equal where decisions are,
    the plan (M,) that each stands for, and the place (N,) of each plan among them."""
    decisions = plans.reshape(len(plans) * plans.shape[1], -1).numpy()
    number = _numbers(decisions)[1].reshape(plans.shape[:2])
    # as big-endian bytes, whose order is that of the numbers
    distinct, copies = _numbers(number.astype(">u4"))
    return torch.from_numpy(number[distinct]), torch.from_numpy(distinct), torch.from_numpy(copies)


def _numbers(rows: NDArray[np.generic]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows (N, F) ordered by their bytes: a place of each distinct one, and the number (N,) of each row."""
    rows = np.ascontiguousarray(rows)
    as_bytes = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()
    _, place, number = np.unique(as_bytes, return_index=True, return_inverse=True)
    return place, number


def own_horizon(model: WorldModel) -> int:
    """The paper's 12 chunks; with a window that grows no more than it was trained to add."""
    predictor = model.config.predictor
    added = predictor.length - predictor.context
    return min(PlanSettings.horizon, added) if predictor.window == "grow" else PlanSettings.horizon


def check_fit(model: WorldModel, library: ChunkLibrary) -> None:
    """A model can imagine a library's chunks only if it knows their controls and steps as far as they last."""
    known, wanted = model.encoding.vocabulary.spelling, library.vocabulary.spelling
    if known != wanted:
        raise UserError(
            f"the model knows the controls of {known!r}, but the chunk library {library.name!r} speaks {wanted!r}; "
            "use a model trained on recordings of this game, or another library"
        )
    raw_steps = library.steps.shape[1]
    if model.encoding.frameskip != raw_steps:
        raise UserError(
            f"the model steps {model.encoding.frameskip} raw steps at a time, but chunks of {library.name!r} "
            f"last {raw_steps}"
        )
