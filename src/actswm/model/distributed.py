"""The one collective that training needs: a mean over ranks that gradients pass through."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor


class _MeanOverRanks(torch.autograd.Function):
    """The mean over ranks, forward and backward.

    Every rank's loss depends on every rank's value by 1/W; with the average that DDP takes of the
    gradients this gives the gradient of the mean loss, as in one process with the whole batch.
    """

    @staticmethod
    def forward(ctx, value: Tensor) -> Tensor:  # type: ignore[no-untyped-def, override]
        total = value.clone()
        dist.all_reduce(total)
        return total / dist.get_world_size()

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:  # type: ignore[no-untyped-def, override]
        return _MeanOverRanks.forward(ctx, gradient)


def world_size() -> int:
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def mean_over_ranks(value: Tensor) -> Tensor:
    """Differentiable mean of `value` over all ranks; the value itself in a single process."""
    if world_size() == 1:
        return value
    return _MeanOverRanks.apply(value)
