"""Validation while training: the objective on held-out windows, and whatever probes the caller passes in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import lightning as L
import torch

from ..model import WorldModel
from ..model.distributed import mean_over_ranks
from .data import WindowData
from .module import TrainingModule

Probe = Callable[[WorldModel], Mapping[str, float]]
"""Figures of a model in evaluation mode, such as the drift gap."""


class Validation(L.Callback):
    """Every `every` steps and at the end, in evaluation mode; logged under `val/`."""

    def __init__(self, windows: WindowData, every: int, probes: Iterable[Probe] = ()) -> None:
        self.windows = windows
        self.every = every
        self.probes = tuple(probes)
        self.latest: dict[str, float] = {}

    def on_train_batch_end(self, trainer: L.Trainer, module: L.LightningModule, *_: Any) -> None:
        assert isinstance(module, TrainingModule)
        step = trainer.global_step
        last = step == module.config.training.steps
        if last or (self.every and step % self.every == 0):
            self.latest = self.measure(module, step)
            for logger in trainer.loggers:
                logger.log_metrics({f"val/{name}": value for name, value in self.latest.items()}, step)

    @torch.no_grad()
    def measure(self, module: TrainingModule, step: int) -> dict[str, float]:
        """The losses as they are weighted at `step`."""
        model = module.model
        was_training = model.training
        model.eval()
        try:
            totals: dict[str, float] = {}
            batches = 0
            for batch in self.windows.validation_loader():
                losses = module.losses(batch, step)
                for name, value in {"loss": losses.total, **losses.terms}.items():
                    totals[name] = totals.get(name, 0.0) + float(value)
                batches += 1
            # of this rank's part of each batch; on the device, since NCCL adds up nothing else
            share = torch.tensor(list(totals.values()), device=model.device) / max(1, batches)
            figures = dict(zip(totals, mean_over_ranks(share).tolist()))
            for probe in self.probes:
                figures.update(probe(model))
            return figures
        finally:
            model.train(was_training)
