"""`WorldModel`: encode frames, predict the next latent, roll out futures under action sequences.

Frames, actions and contexts may be on any device: every method takes them to the model's. Latents stay there.

Symbols as in the paper: B batch, T time, H context, K horizon, S action sequences per context, D latent.
Actions enter as *step actions* (B, T, A'): the step's own action in the model's encoding (`block`: 4 raw
actions side by side; `sliding`: one aggregated vector). The action of frame t is the one that leaves it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import UserError
from .action import ActionEncoder
from .config import ModelConfig
from .convnet import ConvEncoder
from .predictor import Predictor
from .projector import Projector
from .readout import ActionReadout
from .rollout import Past, roll_out
from .tree import PrefixTree, roll_out_tree
from .vit import ViTEncoder

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Context:
    """What has been seen: latents (B, T, D) of T frames, and the step actions that led from each to the next.

    `actions` is (B, lead + T - 1, A'): with the `sliding` encoding an input also names earlier steps, so
    `lead` (3; 0 for `block`) steps from before the first frame stand in front, zeros where there were none.
    """

    latents: Tensor
    actions: Tensor

    @staticmethod
    def start(model: WorldModel, latents: Tensor) -> Context:
        """An episode's first moment: its first frame (B, D) in all H places, and no-ops between them (reading 7)."""
        frames, encoding = model.context_length, model.encoding
        noops = torch.zeros(len(latents), encoding.lead + frames - 1, encoding.step_dim)
        return Context(latents[:, None].expand(-1, frames, -1), noops)

    def after(self, latents: Tensor, actions: Tensor, most: int) -> Context:
        """Step actions (B, W, A') were done and led to latents (B, W, D). The last frames stay, at most `most`."""
        lead = self.actions.shape[1] + 1 - self.latents.shape[1]
        latents, actions = torch.cat([self.latents, latents], 1), torch.cat([self.actions, actions], 1)
        keep = min(latents.shape[1], most)
        return Context(latents[:, -keep:], actions[:, actions.shape[1] - (lead + keep - 1) :])

    def to(self, device: torch.device) -> Context:
        return Context(self.latents.to(device), self.actions.to(device))


class WorldModel(nn.Module):
    """f (encoder + projector), g (action encoder), p (predictor + projector) and the readout q."""

    action_scale: Tensor
    pixel_mean: Tensor
    pixel_std: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.encoding = config.action_encoding
        dim = config.latent_dim
        self.encoder: ViTEncoder | ConvEncoder = (
            ViTEncoder(config.vit, config.image_size, config.checkpointing)
            if config.encoder == "vit"
            else ConvEncoder(config.conv, config.image_size)
        )
        self.projector = Projector(self.encoder.out_dim, config.projector_hidden, dim)
        self.action_encoder = ActionEncoder(config.action, self.encoding.input_dim, dim)
        self.predictor = Predictor(config.predictor, dim)
        self.prediction_projector = Projector(dim, config.projector_hidden, dim)
        if config.predictor.residual:  # at first nothing changes, as with no action at all
            nn.init.zeros_(self.prediction_projector.contract.weight)
            nn.init.zeros_(self.prediction_projector.contract.bias)
        self.readout = ActionReadout(config.readout, dim, self.encoding.step_dim)
        self.register_buffer("action_scale", torch.ones(self.encoding.vocabulary.size))
        self.register_buffer("pixel_mean", 255 * torch.tensor(IMAGENET_MEAN).view(3, 1, 1), persistent=False)
        self.register_buffer("pixel_std", 255 * torch.tensor(IMAGENET_STD).view(3, 1, 1), persistent=False)

    def save_pretrained(
        self,
        directory: str | os.PathLike[str],
        provenance: Mapping[str, Any] | None = None,
        half: bool = False,
        push_to_hub: str | None = None,
    ) -> Path:
        """Write config, weights (fp16 if `half`) and a model card into a folder, and on the hub as `user/repo`."""
        from .pretrained import save_pretrained

        return save_pretrained(self, directory, provenance, torch.float16 if half else None, push_to_hub)

    @staticmethod
    def from_pretrained(directory: str | os.PathLike[str], device: str | torch.device = "cpu") -> WorldModel:
        """Load what `save_pretrained` wrote, ready for evaluation: a folder, a run, a shipped model's name, or
        `user/repo` on the Hugging Face hub."""
        from .pretrained import load_pretrained

        return load_pretrained(directory).to(device)

    @property
    def context_length(self) -> int:
        """H."""
        return self.config.predictor.context

    @property
    def image_size(self) -> int:
        return self.config.image_size

    @property
    def dtype(self) -> torch.dtype:
        return self.predictor.positions.dtype

    @property
    def device(self) -> torch.device:
        return self.predictor.positions.device

    def encode(self, pixels: Tensor, rows: Tensor | None = None) -> Tensor:
        """Frames (B, T, h, w, 3) uint8 -> latents z (B, T, D). Of frames with the same `rows` (B, T) one is encoded."""
        size = self.image_size
        if pixels.shape[-3:] != (size, size, 3):
            raise UserError(f"the model takes {size} x {size} RGB frames, not {tuple(pixels.shape[-3:])}")
        frames, which = pixels.to(self.device, non_blocking=True).flatten(0, 1), None
        if rows is not None:
            distinct, which = torch.unique(rows.to(self.device), return_inverse=True)
            numbers = torch.arange(rows.numel(), device=self.device)
            frames = frames[torch.empty_like(distinct).scatter_(0, which.flatten(), numbers)]
        # a row of a frame at a time: three colours would be too short a loop
        mean, std = (each.flatten().repeat(size) for each in (self.pixel_mean, self.pixel_std))
        normalised = (frames.to(self.dtype).reshape(len(frames) * size, -1) - mean).div_(std)
        seen = self.encoder(normalised.view(-1, size, size, 3).permute(0, 3, 1, 2))
        seen = seen if which is None else seen[which.flatten()]
        return self.projector(seen).unflatten(0, pixels.shape[:2])

    @torch.no_grad()
    def encode_fixed(self, pixels: Tensor, rows: Tensor | None = None) -> Tensor:
        """As `encode` in evaluation, also in training: nothing of the encoder moves, its running averages neither."""
        was_training = self.projector.training
        self.encoder.eval(), self.projector.eval()
        try:
            return self.encode(pixels, rows)
        finally:
            self.encoder.train(was_training), self.projector.train(was_training)

    def normalise(self, actions: Tensor) -> Tensor:
        """Step actions (..., A') with continuous controls in training standard deviations; no-op stays zero."""
        scale = self.action_scale.repeat(actions.shape[-1] // len(self.action_scale))
        return actions.to(self.device, self.dtype) / scale

    def features(self, actions: Tensor) -> Tensor:
        """Step actions (..., lead + T, A') -> the action features e (..., T, D) of the last T steps."""
        steps = self.normalise(actions)
        count = steps.shape[-2] - self.encoding.lead
        blocks = [steps[..., i : i + count, :] for i in range(self.encoding.lead + 1)]
        return self.action_encoder(torch.cat(blocks, -1))

    def predict(self, latents: Tensor, actions: Tensor) -> Tensor:
        """Latents (B, T, D) and step actions (B, lead + T, A') -> next latents (B, T, D), as long as the window.

        Entry i is the prediction of z_i+1 from frames and actions up to i (LeWM's one-step training).
        """
        latents = latents.to(self.device)
        outputs = self.predictor(latents, self.features(actions))
        return self.predictor.following(latents, self.prediction_projector(outputs))

    def prepare(self, context: Context) -> Past:
        """The work that all action sequences from a context share; pass it to `rollout` to do it once."""
        context = context.to(self.device)
        length = min(context.latents.shape[1], self.context_length)
        return Past(
            self.predictor,
            context.latents[:, -length:],
            self.features(context.actions)[:, context.latents.shape[1] - length :],
        )

    def rollout(self, context: Context, actions: Tensor, past: Past | None = None) -> Tensor:
        """Step actions (B, S, K, A'), the first taken in the last context frame -> latents (B, S, K, D).

        In training, sequence 0 is the recorded one: its first prediction gives the batch statistics by which
        every step of every sequence is normalised (see `batchnorm`).
        """
        context, actions = context.to(self.device), actions.to(self.device)
        past = past or self.prepare(context)
        lead = self.encoding.lead
        if lead:
            tail = context.actions[:, None, context.actions.shape[1] - lead :]
            actions = torch.cat([tail.expand(-1, actions.shape[1], -1, -1), actions], 2)
        return roll_out(past, self.features(actions), self.head())

    def rollout_tree(
        self, context: Context, actions: Tensor, tree: PrefixTree, past: Past | None = None
    ) -> Tensor:
        """As `rollout` of one context (B = 1), for step actions (S, K, A') of which many begin alike: (S, K, D).

        `tree` says which do. Only for inference.
        """
        context, actions = context.to(self.device), actions.to(self.device)
        lead = self.encoding.lead
        tail = context.actions[:, context.actions.shape[1] - lead :].expand(len(actions), -1, -1)
        steps = torch.cat([tail, actions], 1)
        sequence, level, which = (part.to(self.device) for part in tree.distinct_inputs(lead))
        inputs = steps[sequence[:, None], level[:, None] + torch.arange(lead + 1, device=self.device)]
        features = self.features(inputs).squeeze(1)
        return roll_out_tree(past or self.prepare(context), features, which, tree, self.head())

    def head(self):  # type: ignore[no-untyped-def]
        """The prediction projector, bound to the statistics of the first output it sees."""
        bound = None

        def head(outputs: Tensor) -> Tensor:
            nonlocal bound
            if bound is None:
                statistics = self.prediction_projector.statistics(outputs[:, 0])
                bound = partial(self.prediction_projector.apply_with, statistics)
            return bound(outputs)

        return head
