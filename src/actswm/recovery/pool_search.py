"""Search among observed actions only: no distribution is fitted, each action is simply tried.

People press few of the 2^14 combinations, so trying every one that the training data holds is cheaper than
CEM and never explains a frame by half a key press.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..model import Context, WorldModel
from .prior import ActionPrior
from .search import FoundSteps
from .steps import step_actions

_BATCH = 1024


class PoolSearch:
    """Each step takes the best action of the pool, or of `draws` random ones from it."""

    def __init__(
        self,
        model: WorldModel,
        prior: ActionPrior,
        draws: int | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        self.model = model
        self.pool = torch.from_numpy(prior.pool).to(model.dtype)
        self.draws = draws
        self.generator = generator
        self._distinct = self.pool.unique(dim=0) if draws is None else self.pool[:0]

    @torch.no_grad()
    def find(self, context: Context, targets: Tensor, previous: Tensor | None = None) -> FoundSteps:
        """The best action from a context (B = 1) towards one target (1, D); `previous` plays no part."""
        candidates = self._candidates()
        past = self.model.prepare(context)
        latents = torch.cat(
            [
                self.model.rollout(context, step_actions(part[:, None], self.model.encoding)[None], past)[0]
                for part in candidates.split(_BATCH)
            ]
        )
        costs = (latents - targets).square().sum((-1, -2)).cpu()
        best = int(costs.argmin())
        return FoundSteps(candidates[best, None], latents[best], costs[best, None], float(costs.mean()))

    def _candidates(self) -> Tensor:
        """Draws that repeat are predicted once; the outcome is the same."""
        if self.draws is None:
            return self._distinct
        chosen = torch.randint(len(self.pool), (self.draws,), generator=self.generator)
        return self.pool[chosen].unique(dim=0)
