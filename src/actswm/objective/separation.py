"""The rollout-level criterion: futures under recorded and alternative actions must stay apart."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from .precision import in_fp32


@in_fp32
def hinge_loss(recorded: Tensor, alternative: Tensor, margin: float) -> Tensor:
    """L_hinge = 1/K sum_k max(0, cos(zhat_gt, zhat_0) - (1 - m)), rollouts (B, K, D).

    Gradients flow into both rollouts. At AdaLN-zero initialisation both are equal, the cosine is at its
    maximum and the gradient exactly zero: the other terms have to break the tie (reading 9).
    """
    return F.relu(F.cosine_similarity(recorded, alternative, dim=-1) - (1 - margin)).mean()


@in_fp32
def truth_hinge_loss(recorded: Tensor, alternative: Tensor, encoded: Tensor, margin: float) -> Tensor:
    """1/K sum_k max(0, cos(zhat_alt, z) - cos(zhat_gt, z) + m): the right actions must explain the future best.

    Pushing the alternative anywhere else satisfies the paper's hinge; this one only a rollout that is closer
    to the encoded future (B, K, D) than the alternative's.
    """
    gap = F.cosine_similarity(recorded, encoded, dim=-1) - F.cosine_similarity(alternative, encoded, dim=-1)
    return F.relu(margin - gap).mean()
