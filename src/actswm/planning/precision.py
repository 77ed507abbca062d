"""Does a search in bf16 find as good a plan as one in fp32?"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..chunks import ChunkLibrary
from ..model import Context, WorldModel
from .planner import Planner, PlanSettings


@dataclass(frozen=True)
class PrecisionCheck:
    """`cost_ratio`: fp32 cost of bf16's plan over that of fp32's plan. `reseeded_ratio`: the same for fp32 with another
    seed, that is what chance does to a search. `elite_overlap`: share of fp32's elites that bf16 alone chooses of the
    same first candidates, too."""

    cost_ratio: float
    reseeded_ratio: float
    elite_overlap: float


@torch.no_grad()
def check_precision(
    model: WorldModel, library: ChunkLibrary, settings: PlanSettings, context: Context, goals: Tensor
) -> PrecisionCheck:
    exact = Planner(model, library, replace(settings, precision="fp32"))
    rough = Planner(model, library, replace(settings, precision="bf16"))
    reseeded = Planner(model, library, replace(settings, precision="fp32", seed=settings.seed + 1))
    cost, least = exact.cost(context, goals), exact.plan(context, goals).cost
    ratio = float(cost(rough.plan(context, goals).found.best[None])) / least
    by_chance = reseeded.plan(context, goals).cost / least
    generator = torch.Generator().manual_seed(settings.seed)
    plans = exact.space.start(settings.horizon).sample(settings.candidates, generator)
    count = settings.search_settings.elites
    alone = rough.cost_in(copy.deepcopy(model).to(torch.bfloat16), context, goals)
    one, two = (set(costs(plans).argsort(stable=True)[:count].tolist()) for costs in (cost, alone))
    return PrecisionCheck(ratio, by_chance, len(one & two) / count)
