"""InfoNCE in time: which moment of this window does a prediction show?

The frames of one window share everything static, so telling them apart takes what changes, and predicting
the right one takes the actions.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from .precision import in_fp32


@in_fp32
def temporal_loss(predicted: Tensor, encoded: Tensor, temperature: float, windows: int = 1) -> Tensor:
    """Predictions (B, K, D) of the last K of n encoded latents (B, n, D): cross-entropy over the moments.

    Both are compared by cosine after the place's mean latent has been taken away: that of `windows`
    neighbours, whose moments all stand for choice.
    """
    horizon, frames = predicted.shape[1], encoded.shape[1]
    places = encoded.unflatten(0, (-1, windows)).flatten(1, 2)  # (places, windows * n, D)
    mean = places.mean(1, keepdim=True)
    asked = predicted.unflatten(0, (-1, windows)).flatten(1, 2) - mean
    similarity = F.normalize(asked, dim=-1) @ F.normalize(places - mean, dim=-1).transpose(1, 2)
    moment = torch.arange(windows * frames, device=predicted.device).view(windows, frames)[:, -horizon:]
    return F.cross_entropy((similarity / temperature).flatten(0, 1), moment.flatten().repeat(len(places)))
