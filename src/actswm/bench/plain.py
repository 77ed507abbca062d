"""The same training step, written plainly: what the rollout engine is measured against.

Each frame is encoded once; each rollout step runs the whole window of both sequences through the predictor
and keeps the last output. Attention uses torch's fused kernel, so that only the amount of work differs.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from ..model import Context, WorldModel
from ..model.predictor import Block, Predictor
from ..model.vit import ViTEncoder
from ..objective import Batch, Losses, Objective


def plain_block(block: Block, x: Tensor, feature: Tensor) -> Tensor:
    modulation = block.modulation(F.silu(feature))
    attention = block.attention
    q, k, v = attention.qkv(attention.norm(block.attention_input(x, modulation))).chunk(3, -1)
    q, k, v = (t.unflatten(-1, (attention.heads, -1)).transpose(1, 2) for t in (q, k, v))
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
    return block.update(x, modulation, attention.out(mixed))


def plain_predictor(predictor: Predictor, latents: Tensor, features: Tensor) -> Tensor:
    x = latents + predictor.positions[: latents.shape[1]]
    for block in predictor.blocks:
        x = plain_block(block, x, features)
    return predictor.norm(x)


def plain_rollout(model: WorldModel, context: Context, actions: Tensor) -> Tensor:
    """As `WorldModel.rollout`, without sharing anything between sequences or steps."""
    batch, sequences, horizon = actions.shape[:3]
    history = context.actions.unsqueeze(1).expand(-1, sequences, -1, -1)
    features = model.features(torch.cat([history, actions], 2)).flatten(0, 1)
    latents = list(context.latents.repeat_interleave(sequences, 0).unbind(1))
    head = model.head()
    for _ in range(horizon):
        first = max(0, len(latents) - model.context_length)
        window = torch.stack(latents[first:], 1)
        outputs = plain_predictor(model.predictor, window, features[:, first : len(latents)])
        latents.append(head(outputs[:, -1].unflatten(0, (batch, sequences))).flatten(0, 1))
    return torch.stack(latents[-horizon:], 1).unflatten(0, (batch, sequences))


def plain_encode(model: WorldModel, pixels: Tensor) -> Tensor:
    """As `WorldModel.encode`, every block on every token."""
    encoder = model.encoder
    assert isinstance(encoder, ViTEncoder)
    frames = (pixels.flatten(0, 1).permute(0, 3, 1, 2).to(model.dtype) - model.pixel_mean) / model.pixel_std
    x = encoder.patches(frames).flatten(2).transpose(1, 2)
    x = torch.cat([encoder.cls.expand(len(x), -1, -1), x], 1) + encoder.positions
    for block in encoder.blocks:
        x = block(x)
    return model.projector(encoder.norm(x)[:, 0]).unflatten(0, pixels.shape[:2])


class PlainWorldModel:
    """A view of a world model whose methods do the work plainly."""

    def __init__(self, model: WorldModel) -> None:
        self._model = model

    def __getattr__(self, name: str):  # type: ignore[no-untyped-def]
        return getattr(self._model, name)

    def encode(self, pixels: Tensor, rows: Tensor | None = None) -> Tensor:
        return plain_encode(self._model, pixels)

    def rollout(self, context: Context, actions: Tensor) -> Tensor:
        return plain_rollout(self._model, context, actions)


def plain_losses(model: WorldModel, objective: Objective, batch: Batch, generator: torch.Generator) -> Losses:
    return objective(PlainWorldModel(model), batch, generator)
