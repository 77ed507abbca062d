"""A light convolutional encoder for CPU-sized runs: a stride-2 pyramid, then one linear map."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


@dataclass
class ConvConfig:
    """One stride-2 convolution per entry of `channels`; image size / 2^len(channels) must be whole."""

    channels: list[int] = field(default_factory=lambda: [32, 64, 128, 128])
    hidden: int = 256


class ConvEncoder(nn.Module):
    """(N, planes, h, w) normalised pixels -> (N, hidden)."""

    def __init__(self, config: ConvConfig, image_size: int, planes: int = 3) -> None:
        super().__init__()
        side, rest = divmod(image_size, 2 ** len(config.channels))
        if rest or side == 0:
            raise ValueError(f"image size {image_size} cannot be halved {len(config.channels)} times")
        self.out_dim = config.hidden
        layers: list[nn.Module] = []
        previous = planes
        for channels in config.channels:
            layers += [nn.Conv2d(previous, channels, 4, 2, 1), nn.GroupNorm(8, channels), nn.ReLU()]
            previous = channels
        self.pyramid = nn.Sequential(*layers)
        self.out = nn.Linear(previous * side * side, config.hidden)
        self.norm = nn.LayerNorm(config.hidden)

    def forward(self, pixels: Tensor) -> Tensor:
        features = self.pyramid(pixels.contiguous(memory_format=torch.channels_last))
        return self.norm(self.out(features.flatten(1)))
