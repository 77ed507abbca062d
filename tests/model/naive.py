"""The rollout as the paper writes it: recompute the whole window for every step and sequence."""

from __future__ import annotations

import torch
from torch import Tensor

from actswm.model import Context, WorldModel


def naive_rollout(model: WorldModel, context: Context, actions: Tensor) -> Tensor:
    """Step actions (B, S, K, A') -> latents (B, S, K, D), for a model in evaluation mode."""
    rollouts = []
    seen = max(0, context.latents.shape[1] - model.context_length)  # frames before the context are not seen
    for sequence in actions.unbind(1):
        latents = list(context.latents.unbind(1))
        features = model.features(torch.cat([context.actions, sequence], 1))
        for _ in range(sequence.shape[1]):
            first = max(seen, len(latents) - model.config.predictor.length)
            window = torch.stack(latents[first:], 1)
            outputs = model.predictor(window, features[:, first : len(latents)])
            following = model.prediction_projector(outputs[:, -1])
            latents.append(latents[-1] + following if model.config.predictor.residual else following)
        rollouts.append(torch.stack(latents[-sequence.shape[1] :], 1))
    return torch.stack(rollouts, 1)
