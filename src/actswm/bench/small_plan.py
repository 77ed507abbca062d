"""A whole plan with a `small` model: our planner against a search that rolls out every candidate by itself."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ..chunks import load_library
from ..model import Context, WorldModel
from ..planning.cem import Cost, search
from ..planning.costs import COSTS
from ..planning.planner import Planner, PlanSettings
from ..training.config import load_config
from .plain import plain_rollout


@dataclass(frozen=True)
class SmallPlan:
    """CPU seconds of the faster of the runs, which took turns; both searches see the same random numbers."""

    cpu_seconds: float
    naive_cpu_seconds: float
    speedup_vs_naive: float
    relative_cost_diff: float
    """Between the costs of the plans that the two found."""


def bench_small_plan(
    repeats: int, settings: PlanSettings | None = None, progress: Callable[[str], None] = lambda what: None
) -> SmallPlan:
    """The paper's search (512 candidates, 6 iterations, horizon 12) from a full context, frames encoded already."""
    settings = settings or PlanSettings()
    torch.manual_seed(0)
    model = WorldModel(load_config("small/lewm-rollout").model).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # away from AdaLN-zero, where actions have no effect
            parameter.add_(0.03 * torch.randn_like(parameter))
    dim, frames = model.config.latent_dim, model.context_length
    context = Context(torch.randn(1, frames, dim), torch.randn(1, frames - 1, model.encoding.step_dim))
    goals = torch.randn(settings.horizon, dim)
    planner = Planner(model, load_library("keys14/follow"), settings)

    def naive(plans: Tensor) -> Tensor:
        futures = plain_rollout(model, context, planner.step_actions(plans)[None])[0]
        return COSTS[settings.cost](futures, goals)

    costs: dict[str, Callable[[], Cost]] = {
        "engine": lambda: planner.cost(context, goals),
        "naive": lambda: naive,
    }
    seconds: dict[str, float] = {}
    found: dict[str, float] = {}
    for turn in range(repeats):
        for name, cost in costs.items():
            progress(f"small plan, {name} {turn + 1}/{repeats}")
            generator = torch.Generator().manual_seed(0)
            start = planner.space.start(settings.horizon)
            with torch.inference_mode():
                began = time.process_time()
                found[name] = search(cost(), start, settings.search_settings, generator).cost
                seconds[name] = min(seconds.get(name, math.inf), time.process_time() - began)
    return SmallPlan(
        seconds["engine"],
        seconds["naive"],
        seconds["naive"] / seconds["engine"],
        abs(found["engine"] / found["naive"] - 1),
    )
