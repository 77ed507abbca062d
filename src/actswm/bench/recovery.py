"""One recovered step at the paper's size: candidates that share their past against each candidate's whole window."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..model import Context, WorldModel
from ..recovery.prior import ActionPrior
from ..recovery.search import FoundSteps, RecoverySettings, StepwiseSearch
from ..training import load_config
from .plain import PlainWorldModel, plain_rollout

_NAIVE_BATCH = 64
"""Windows that the naive side runs at once: the fastest of 16, 64 and 256 here, and small in memory."""


@dataclass(frozen=True)
class RecoverBench:
    """CPU seconds are for information; the ratio is what is measured. Nothing is extrapolated."""

    speedup_vs_naive: float
    max_action_difference: float
    cpu_seconds: float
    naive_cpu_seconds: float
    context: int
    candidates: int
    iterations: int


def bench_recover(repeats: int = 3, settings: RecoverySettings | None = None) -> RecoverBench:
    """Whole searches of one step, one thread: the naive one once, ours before and after it, the slowest counting."""
    torch.set_num_threads(1)
    settings = settings or RecoverySettings()
    model = _model()
    context, target, prior = _task(model)

    def search(judge: WorldModel) -> tuple[FoundSteps, float]:
        generator = torch.Generator().manual_seed(0)
        began = time.process_time()
        found = StepwiseSearch(judge, prior, settings, generator).find(context, target)
        return found, time.process_time() - began

    runs = [search(model) for _ in range(max(1, repeats - 1))]
    naive, naive_seconds = search(NaiveModel(model))  # type: ignore[arg-type]
    runs.append(search(model))
    seconds = max(spent for _, spent in runs)
    return RecoverBench(
        naive_seconds / seconds,
        float((runs[0][0].actions - naive.actions).abs().max()),
        seconds,
        naive_seconds,
        model.context_length,
        settings.candidates,
        settings.iterations,
    )


class NaiveModel(PlainWorldModel):
    """Every candidate's whole window through the predictor, and nothing kept between iterations."""

    def prepare(self, context: Context) -> None:
        return None

    def rollout(self, context: Context, actions: Tensor, past: None = None) -> Tensor:
        parts = actions.split(_NAIVE_BATCH, 1)
        return torch.cat([plain_rollout(self._model, context, part) for part in parts], 1)


def _model() -> WorldModel:
    torch.manual_seed(0)
    model = WorldModel(load_config("paper/actswm", ["model.encoding=sliding"]).model).eval()
    with torch.no_grad():  # away from AdaLN-zero, where actions do nothing
        for block in model.predictor.blocks:
            block.modulate.weight.normal_(0, 0.1)
    return model


def _task(model: WorldModel) -> tuple[Context, Tensor, ActionPrior]:
    frames, encoding = model.context_length, model.encoding
    presses = (np.random.default_rng(0).random((4096, encoding.step_dim)) < 0.2).astype(np.float32)
    actions = torch.from_numpy(presses[None, : encoding.lead + frames - 1])
    context = Context(torch.randn(1, frames, model.config.latent_dim), actions)
    return context, torch.randn(1, model.config.latent_dim), ActionPrior.of(presses, "made")
