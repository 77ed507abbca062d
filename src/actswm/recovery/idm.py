"""Inverse dynamics, the direct way: two neighbouring frames in, the step's action out. No world model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..controls import ActionEncoding, vocabulary_of
from ..data import WindowSample
from ..data.loader import WindowDataset
from ..errors import UserError
from ..model.convnet import ConvConfig, ConvEncoder
from .idm_file import read_idm, write_idm

_BATCH = 64


@dataclass(frozen=True)
class IdmConfig:
    vocabulary: str = "keys14"
    frameskip: int = 4
    image_size: int = 64
    channels: list[int] = field(default_factory=lambda: [32, 64, 128, 128])
    hidden: int = 256

    @property
    def encoding(self) -> ActionEncoding:
        return ActionEncoding(vocabulary_of(self.vocabulary), "sliding", self.frameskip)


class InverseDynamics(nn.Module):
    """The two frames go into one convolutional encoder as six planes, so that it can see motion from the start."""

    scale: Tensor
    """Standard deviation of each continuous control's step sum; 1 for binary ones."""

    def __init__(self, config: IdmConfig) -> None:
        super().__init__()
        self.config = config
        self.encoding = config.encoding
        size = self.encoding.vocabulary.size
        self.encoder = ConvEncoder(ConvConfig(config.channels, config.hidden), config.image_size, planes=6)
        self.out = nn.Linear(config.hidden, size)
        self.register_buffer("scale", torch.ones(size))

    def forward(self, pixels: Tensor) -> Tensor:
        """Frames (B, 2, h, w, 3) uint8 -> (B, A): logits of binary controls, scaled continuous ones."""
        planes = pixels.to(self.scale.device).permute(0, 1, 4, 2, 3).flatten(1, 2)
        return self.out(self.encoder(planes.float() / 127.5 - 1))

    @torch.no_grad()
    def actions(self, pixels: Tensor) -> Tensor:
        """Step vectors (B, A), on the CPU: probabilities of binary controls, sums of continuous ones."""
        out = self(pixels)
        binary = torch.from_numpy(self.encoding.vocabulary.binary)
        return torch.where(binary, out.sigmoid().cpu(), (out * self.scale).cpu())

    def predict(self, sample: WindowSample) -> NDArray[np.float32]:
        """The actions (N, K, A) of sampled windows."""
        if sample.frameskip != self.config.frameskip:
            raise UserError(
                f"the idm's frameskip is {self.config.frameskip}, the windows' {sample.frameskip}; train another"
            )
        dataset = WindowDataset(
            sample.path, self.encoding, sample.horizon + 1, sample.rows, self.config.image_size
        )
        windows = []
        for index in range(len(sample)):
            frames = dataset[index][0]
            pairs = torch.stack([frames[:-1], frames[1:]], 1)
            windows.append(torch.cat([self.actions(part) for part in pairs.split(_BATCH)]))
        return torch.stack(windows).numpy()

    def save(self, folder: Path, provenance: Mapping[str, Any]) -> None:
        write_idm(folder, self.config, self.state_dict(), provenance)

    @staticmethod
    def load(folder: Path) -> InverseDynamics:
        return read_idm(folder, lambda config: InverseDynamics(IdmConfig(**config)))
