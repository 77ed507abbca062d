"""Step drift (Q1, Appendix B): do futures predicted under other actions drift away from the recorded one?

For each window the context is encoded once and rolled out under several action sequences; every prediction
is compared by cosine with the encoded recorded future. `recorded` and `zero` are the paper's; beside them
`shuffled` (another window's recorded actions, a real alternative), `copy` (the last context latent: a model
below it has not learned to predict) and `random` (the same step of another window's future).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from ..data import WindowSample
from ..intervals import bootstrap_steps
from ..model import WorldModel
from ..results import DriftStep
from .windows import encoded_cases

ROLLOUTS = ("recorded", "zero", "shuffled")
CURVES = (*ROLLOUTS, "copy", "random")


@dataclass(frozen=True)
class StepDrift:
    """Cosine similarity to the encoded future per curve, (windows, steps); step k is column k - 1.

    `episode` (windows,): intervals are over episodes.
    """

    similarity: dict[str, NDArray[np.float32]]
    episode: NDArray[np.int64]

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

    def table(self) -> tuple[DriftStep, ...]:
        values = {curve: self.similarity[curve] for curve in CURVES}
        values |= {f"{curve}_gap": self.gap(curve) for curve in ("zero", "shuffled")}
        columns = {name: bootstrap_steps(value, self.episode) for name, value in values.items()}
        return tuple(
            DriftStep(step=k + 1, **{name: estimates[k] for name, estimates in columns.items()})
            for k in range(self.steps)
        )


@torch.no_grad()
def step_drift(
    model: WorldModel,
    sample: WindowSample,
    batch: int = 64,
    progress: Callable[[int], None] = lambda done: None,
) -> StepDrift:
    """Measure all curves on the sampled windows; `progress` hears the number of windows done."""
    parts: dict[str, list[Tensor]] = {curve: [] for curve in CURVES if curve != "random"}
    futures: list[Tensor] = []
    done = 0
    for case in encoded_cases(sample, model, batch):
        actions = torch.stack([case.recorded, torch.zeros_like(case.recorded), case.shuffled], 1)
        predictions = dict(zip(ROLLOUTS, model.rollout(case.context, actions).unbind(1)))
        predictions["copy"] = case.context.latents[:, -1:].expand_as(case.future)
        for curve, predicted in predictions.items():
            parts[curve].append(F.cosine_similarity(predicted, case.future, dim=-1).cpu())
        futures.append(case.future.cpu())
        done += len(case.future)
        progress(done)
    future = torch.cat(futures)
    similarity = {curve: torch.cat(values) for curve, values in parts.items()}
    similarity["random"] = F.cosine_similarity(future, future[torch.from_numpy(sample.partner)], dim=-1)
    return StepDrift({curve: values.float().numpy() for curve, values in similarity.items()}, sample.episode)
