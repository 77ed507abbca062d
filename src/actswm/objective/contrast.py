"""InfoNCE over the batch: which of all these frames does a prediction show?

Frames of other places keep the place in the latent, frames of the same place make it precise, and predicting the right
one of those takes the actions. Without other places the latent may forget the look of a place, and distances mean the
same in another one. Nothing is asked of a scale, so squared error has to stand beside it.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from .precision import in_fp32

NEVER = -1e4


@in_fp32
def contrast_loss(
    predicted: Tensor,
    target: Tensor,
    keys: Tensor,
    rows: Tensor,
    temperature: float,
    near: int,
    groups: Tensor | None = None,
) -> Tensor:
    """Predictions (N, D), each of the frame number `target` (N,) among the encoded `keys` (M, D): cross-entropy.

    Logits are -||zhat - z||^2 / (D * temperature): distances, because planners measure distances. `rows` (M,) say
    when each frame was: those at most `near` raw steps from the right one look like it, and do not count as wrong.
    With `groups` (M,) only frames of the right one's group take part.
    """
    squared = predicted.square().sum(1, keepdim=True) - 2 * predicted @ keys.T + keys.square().sum(1)
    logits = -squared / (keys.shape[1] * temperature)
    left_out = (rows[target][:, None] - rows).abs() <= near
    if groups is not None:
        left_out |= groups[target][:, None] != groups
    left_out[torch.arange(len(target), device=target.device), target] = False
    return F.cross_entropy(logits.masked_fill(left_out, NEVER), target)
