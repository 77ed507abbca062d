"""InfoNCE in time: which moment of this window does a prediction show?

The frames of one window share everything static, so telling them apart takes what changes, and predicting
the right one takes the actions.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def temporal_loss(predicted: Tensor, encoded: Tensor, temperature: float) -> Tensor:
    """Predictions (B, K, D) of the last K of n encoded latents (B, n, D): cross-entropy over the n moments.

    Both are compared by cosine after the window's mean latent has been taken away.
    """
    mean = encoded.mean(1, keepdim=True)
    similarity = F.normalize(predicted - mean, dim=-1) @ F.normalize(encoded - mean, dim=-1).transpose(1, 2)
    frames, horizon = encoded.shape[1], predicted.shape[1]
    moment = torch.arange(frames - horizon, frames, device=predicted.device).expand(len(predicted), -1)
    return F.cross_entropy((similarity / temperature).flatten(0, 1), moment.flatten())
