"""The transition-level criterion: the readout must find each step's action in its latent transition."""

from __future__ import annotations

import torch
from torch import Tensor

from ..model.readout import ActionReadout
from .prediction import squared_distance


def readout_loss(
    readout: ActionReadout,
    encoded: Tensor,
    predicted: Tensor | None,
    actions: Tensor,
    alpha_pred: float = 1.0,
    reduction: str = "mean",
) -> Tensor:
    """L_readout = 1/K sum_k (||q(u_enc) - a||^2 + alpha_pred ||q(u_pred) - a||^2).

    `encoded` (B, K + 1, D) are z_t .. z_t+K; `predicted` (B, K, D) the recorded-action rollout, whose first
    transition starts at the observed z_t; `actions` (B, K, A') the step actions a_t .. a_t+K-1. With a
    frozen readout gradients still flow into both kinds of transition (`idm.stop_grad` in the paper).
    """
    loss = squared_distance(readout(encoded[:, :-1], encoded[:, 1:]), actions, reduction)
    if predicted is not None and alpha_pred:
        before = torch.cat([encoded[:, :1], predicted[:, :-1]], 1)
        loss = loss + alpha_pred * squared_distance(readout(before, predicted), actions, reduction)
    return loss
