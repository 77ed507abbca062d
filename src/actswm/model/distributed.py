"""The collectives that training needs, as functions that gradients pass through."""

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


class _Gathered(torch.autograd.Function):
    """The parts of all ranks, in their order. Each rank's part gets the sum of all ranks' gradients."""

    @staticmethod
    def forward(ctx, value: Tensor) -> Tensor:  # type: ignore[no-untyped-def, override]
        parts = [torch.empty_like(value) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, value.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:  # type: ignore[no-untyped-def, override]
        total = gradient.contiguous()
        dist.all_reduce(total)
        return total.chunk(dist.get_world_size())[dist.get_rank()]


def gathered(value: Tensor) -> Tensor:
    """The first axis (of equal length everywhere) of all ranks, one after another; the value itself in one process."""
    return value if world_size() == 1 else _Gathered.apply(value)


def rank() -> int:
    return dist.get_rank() if world_size() > 1 else 0
