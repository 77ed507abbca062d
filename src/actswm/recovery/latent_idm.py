"""Inverse dynamics on the latents of a world model that stays as it is: what do they keep of a step's action?

The latents of two frames, a model step apart, in; the step's action out. The world model's own weights go along, so
that a saved one needs nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..controls import ActionEncoding
from ..data import WindowSample
from ..data.loader import WindowDataset
from ..errors import UserError
from ..model import ModelConfig, WorldModel
from ..model.settings import typed_settings
from .idm_file import write_idm


@dataclass(frozen=True)
class LatentIdmConfig:
    world: dict[str, Any]
    """Settings of the world model."""
    hidden: int = 512
    kind: str = "latents"


class LatentIdm(nn.Module):
    mean: Tensor
    std: Tensor
    scale: Tensor
    """Standard deviation of each continuous control's step sum; 1 for binary ones."""
    slope: Tensor
    offset: Tensor
    threshold: Tensor

    def __init__(self, config: LatentIdmConfig) -> None:
        super().__init__()
        self.config = config
        self.world = WorldModel(typed_settings(ModelConfig, config.world)).requires_grad_(False)
        told = self.world.encoding
        self.encoding = ActionEncoding(told.vocabulary, "sliding", told.frameskip)
        inputs, controls = 2 * self.world.config.latent_dim, self.encoding.vocabulary.size
        self.layers = nn.Sequential(
            nn.Linear(inputs, config.hidden),
            nn.GELU(),
            nn.Linear(config.hidden, config.hidden),
            nn.GELU(),
            nn.Linear(config.hidden, controls),
        )
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("std", torch.ones(inputs))
        for name, value in (("scale", 1.0), ("slope", 1.0), ("offset", 0.0), ("threshold", 0.5)):
            self.register_buffer(name, torch.full((controls,), value))

    @staticmethod
    def of(world: WorldModel, hidden: int = LatentIdmConfig.hidden) -> LatentIdm:
        """Untrained, on a copy of the world model."""
        model = LatentIdm(LatentIdmConfig(asdict(world.config), hidden))
        model.world.load_state_dict(world.state_dict())
        return model

    def train(self, mode: bool = True) -> LatentIdm:
        """The world model stays in evaluation: its running averages do not move, either."""
        super().train(mode)
        self.world.eval()
        return self

    def forward(self, pairs: Tensor) -> Tensor:
        """What `see` tells (B, 2 D) -> (B, A): logits of binary controls, scaled continuous ones."""
        return self.layers((pairs - self.mean) / self.std)

    @torch.no_grad()
    def see(self, latents: Tensor) -> Tensor:
        """Latents (..., T, D) -> those of each step's first frame, and their change (..., T - 1, 2 D)."""
        before, after = latents[..., :-1, :], latents[..., 1:, :]
        return torch.cat([before, after - before], -1)

    @torch.no_grad()
    def actions(self, pairs: Tensor) -> Tensor:
        """Step vectors (B, A): calibrated probabilities of binary controls, sums of continuous ones."""
        out = self(pairs)
        binary = torch.from_numpy(self.encoding.vocabulary.binary)
        return torch.where(binary, (out * self.slope + self.offset).sigmoid(), out * self.scale)

    def decided(self, actions: Tensor) -> NDArray[np.float32]:
        """Buttons 0 or 1."""
        binary = torch.from_numpy(self.encoding.vocabulary.binary)
        return torch.where(binary, (actions > self.threshold).float(), actions).numpy()

    @torch.no_grad()
    def predict(self, sample: WindowSample) -> NDArray[np.float32]:
        """The actions (N, K, A) of sampled windows."""
        skip = self.encoding.frameskip
        if sample.frameskip != skip:
            raise UserError(f"the idm's frameskip is {skip}, the windows' {sample.frameskip}; train another")
        size = self.world.image_size
        dataset = WindowDataset(sample.path, self.encoding, sample.horizon + 1, sample.rows, size)
        windows = (self.world.encode(dataset[index][0][None])[0] for index in range(len(sample)))
        return np.stack([self.decided(self.actions(self.see(latents))) for latents in windows])

    def save(self, folder: Path, provenance: Mapping[str, Any]) -> None:
        write_idm(folder, self.config, self.state_dict(), provenance)
