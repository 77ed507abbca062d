"""The prediction term: predicted latents must meet the encoder's own, without stop-gradient."""

from __future__ import annotations

from torch import Tensor

from .precision import in_fp32


@in_fp32
def squared_distance(x: Tensor, y: Tensor, reduction: str = "mean") -> Tensor:
    """||x - y||^2 over the last axis, averaged over all others.

    `mean` also averages over the last axis (LeWM's form, to which the paper's weights belong: reading 8);
    `sum` is the equations to the letter.
    """
    squared = (x - y).square()
    return squared.mean() if reduction == "mean" else squared.sum(-1).mean()


def prediction_loss(predicted: Tensor, encoded: Tensor, reduction: str = "mean") -> Tensor:
    """L_pred = 1/K sum_k ||zhat_t+k - z_t+k||^2, predicted and encoded latents (B, K, D)."""
    return squared_distance(predicted, encoded, reduction)
