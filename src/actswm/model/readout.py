"""The action readout q: which action does a latent transition [z_t, z_t+1] show?

Frozen at its random initialisation it is a fixed ruler: to make actions readable, the latents must move
(Appendix E). In the joint ablation it trains along and can move its own boundary instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class ReadoutConfig:
    """`scale` multiplies torch's default initial weights; `trainable` is the paper's joint ablation."""

    hidden: int = 512
    scale: float = 1.0
    trainable: bool = False


class ActionReadout(nn.Module):
    """Linear, GELU, Linear on concatenated transitions: two (..., D) -> (..., step_dim)."""

    def __init__(self, config: ReadoutConfig, dim: int, step_dim: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(2 * dim, config.hidden)
        self.out = nn.Linear(config.hidden, step_dim)
        with torch.no_grad():
            self.hidden.weight.mul_(config.scale)
            self.out.weight.mul_(config.scale)
        self.requires_grad_(config.trainable)

    def forward(self, before: Tensor, after: Tensor) -> Tensor:
        return self.out(F.gelu(self.hidden(torch.cat([before, after], -1))))
