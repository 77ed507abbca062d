"""Batch normalisation whose statistics can be taken once and used for a whole rollout.

Two things that `nn.BatchNorm1d` does not offer:

- *One function per rollout.* Every step of a rollout, and every alternative action sequence, must go through
  the same map, or normalisation itself would separate (or hide) futures. So statistics are taken from one
  tensor, the recorded-action rollout's first prediction, and passed on; the running averages used in
  evaluation follow exactly those, and no-op rollouts never touch them.
- *Averages over ranks on any device.* torch's SyncBatchNorm refuses CPU tensors.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from .distributed import mean_over_ranks


class Statistics(NamedTuple):
    mean: Tensor
    variance: Tensor


class BatchNorm(nn.Module):
    """Normalises the last axis of (..., D) over all others. Parameter names as in `nn.BatchNorm1d`."""

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, dim: int, momentum: float = 0.1, eps: float = 1e-5) -> None:
        super().__init__()
        self.momentum = momentum
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.register_buffer("running_mean", torch.zeros(dim))
        self.register_buffer("running_var", torch.ones(dim))

    def statistics(self, x: Tensor) -> Statistics:
        """In training: of this batch (all ranks'), also noted in the running averages. Else: the latter."""
        if not self.training:
            return Statistics(self.running_mean, self.running_var)
        rows = x.reshape(-1, x.shape[-1]).float()
        mean = mean_over_ranks(rows.mean(0))
        variance = mean_over_ranks((rows - mean).square().mean(0))
        with torch.no_grad():
            self.running_mean.lerp_(mean.to(self.running_mean.dtype), self.momentum)
            self.running_var.lerp_(variance.to(self.running_var.dtype), self.momentum)
        return Statistics(mean, variance)

    def forward(self, x: Tensor, statistics: Statistics | None = None) -> Tensor:
        mean, variance = statistics or self.statistics(x)
        scale = self.weight * torch.rsqrt(variance + self.eps).to(self.weight.dtype)
        return torch.addcmul(self.bias - mean.to(scale.dtype) * scale, x, scale)
