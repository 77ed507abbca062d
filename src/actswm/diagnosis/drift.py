"""Step drift (Q1, Appendix B): do futures predicted under other actions drift away from the recorded one?

For each window the context is encoded once and rolled out under several action sequences; every prediction
is compared by cosine with the encoded recorded future. `recorded` and `zero` are the paper's; beside them
`shuffled` (another window's recorded actions, a real alternative), `copy` (the last context latent: a model
below it has not learned to predict) and `random` (the latent of another window at the same step).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from ..intervals import Estimate, bootstrap
from ..model import Context, WorldModel
from .windows import Case, WindowSample, cases

CURVES = ("recorded", "zero", "shuffled", "copy", "random")


@dataclass(frozen=True)
class StepDrift:
    """Cosine similarity to the encoded future per curve, (windows, steps); step k is column k - 1."""

    similarity: dict[str, NDArray[np.float32]]

    @property
    def steps(self) -> int:
        return self.similarity["recorded"].shape[1]

    @property
    def windows(self) -> int:
        return self.similarity["recorded"].shape[0]

    def mean(self, curve: str) -> NDArray[np.float32]:
        return self.similarity[curve].mean(0)

    def gap(self, curve: str) -> NDArray[np.float32]:
        """Delta_k = s_gt - s_alternative, (windows, steps)."""
        return self.similarity["recorded"] - self.similarity[curve]

    def at(self, curve: str, step: int) -> Estimate:
        return bootstrap(self.similarity[curve][:, step - 1])

    def gap_at(self, curve: str, step: int) -> Estimate:
        return bootstrap(self.gap(curve)[:, step - 1])


@torch.no_grad()
def step_drift(
    model: WorldModel,
    sample: WindowSample,
    batch: int = 64,
    progress: Callable[[int], None] = lambda done: None,
) -> StepDrift:
    """Measure all curves on the sampled windows; `progress` hears the number of windows done."""
    parts: dict[str, list[Tensor]] = {curve: [] for curve in CURVES}
    done = 0
    for case in cases(sample, model, batch):
        for curve, values in _similarities(model, case, sample.horizon).items():
            parts[curve].append(values)
        done += len(case.pixels)
        progress(done)
    return StepDrift({curve: torch.cat(values).float().numpy() for curve, values in parts.items()})


def _similarities(model: WorldModel, case: Case, horizon: int) -> dict[str, Tensor]:
    latents = model.encode(case.pixels)
    context, future = split_case(latents, case.actions, horizon)
    recorded = case.actions[:, -horizon:]
    sequences = torch.stack([recorded, torch.zeros_like(recorded), case.partner_actions[:, -horizon:]], 1)
    rollouts = model.rollout(context, sequences)
    predictions = dict(zip(("recorded", "zero", "shuffled"), rollouts.unbind(1)))
    predictions["copy"] = context.latents[:, -1:].expand_as(future)
    predictions["random"] = future.roll(1, 0)
    return {curve: F.cosine_similarity(predicted, future, dim=-1) for curve, predicted in predictions.items()}


def split_case(latents: Tensor, actions: Tensor, horizon: int) -> tuple[Context, Tensor]:
    """Encoded windows (B, H + K, D) -> the context, and the future latents (B, K, D)."""
    return Context(latents[:, :-horizon], actions[:, :-horizon]), latents[:, -horizon:]
