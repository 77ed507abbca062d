"""The optimiser of a run: AdamW as in the paper, or Muon for the matrices with AdamW for all else.

Muon moves a weight matrix by its momentum with all singular values set to one (Newton-Schulz), so that directions which
few examples ask for move as far as those that all do. At equal CPU time it learned twice as much here (docs/study.md).
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from .config import TrainingConfig
from .muon import Muon


class MuonAdamW(torch.optim.Optimizer):
    """Both as one, for a trainer that knows a single optimiser, schedule and checkpoint."""

    def __init__(self, matrices: Iterable[nn.Parameter], others: Iterable[nn.Parameter], training: TrainingConfig):
        decay = training.weight_decay
        self._parts = (
            Muon(matrices, lr=training.muon_rate, weight_decay=decay),
            torch.optim.AdamW(list(others), lr=training.learning_rate, weight_decay=decay),
        )
        super().__init__([group for part in self._parts for group in part.param_groups], {})
        self._share()

    def _share(self) -> None:
        """The groups and the state of the parts are this one's: schedules and checkpoints see and set them."""
        groups = iter(self.param_groups)
        for part in self._parts:
            part.param_groups = [next(groups) for _ in part.param_groups]
            part.state = self.state

    def load_state_dict(self, state_dict: dict) -> None:  # type: ignore[type-arg]
        super().load_state_dict(state_dict)
        self._share()

    def step(self, closure=None):  # type: ignore[no-untyped-def, override]
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for part in self._parts:
            part.step()
        return loss


def make_optimizer(module: nn.Module, training: TrainingConfig) -> torch.optim.Optimizer:
    """Of all parameters that train. Positions are a list of vectors, no matrix."""
    named = [(name, value) for name, value in module.named_parameters() if value.requires_grad]
    if training.optimizer == "muon":
        matrices = {name for name, value in named if value.ndim == 2 and not name.endswith("positions")}
        return MuonAdamW(
            (value for name, value in named if name in matrices),
            (value for name, value in named if name not in matrices),
            training,
        )
    return torch.optim.AdamW(
        (value for _, value in named), lr=training.learning_rate, weight_decay=training.weight_decay
    )
