"""A light convolutional encoder for CPU-sized runs: a strided pyramid, then one linear map."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

_GROUPS = 8
"""Of a feature map's channels, each normalised by itself."""


@dataclass
class ConvConfig:
    """One convolution per entry of `channels`: the first with stride `stem`, the others with stride 2."""

    channels: list[int] = field(default_factory=lambda: [32, 64, 128, 128])
    hidden: int = 256
    stem: int = 2
    """4 skips the largest feature maps, which cost more than they teach on CPU."""

    def __post_init__(self) -> None:
        if any(channels < 1 or channels % _GROUPS for channels in self.channels):
            raise ValueError(f"conv.channels {list(self.channels)} must be multiples of {_GROUPS}")


class ConvEncoder(nn.Module):
    """(N, planes, h, w) normalised pixels -> (N, hidden)."""

    def __init__(self, config: ConvConfig, image_size: int, planes: int = 3) -> None:
        super().__init__()
        strides = [config.stem] + [2] * (len(config.channels) - 1)
        side, rest = divmod(image_size, math.prod(strides))
        if rest or side == 0:
            raise ValueError(f"image size {image_size} cannot be divided by {' x '.join(map(str, strides))}")
        self.out_dim = config.hidden
        layers: list[nn.Module] = []
        previous = planes
        for channels, stride in zip(config.channels, strides):
            convolution = nn.Conv2d(previous, channels, 2 * stride, stride, stride // 2)
            layers += [convolution, nn.GroupNorm(_GROUPS, channels), nn.ReLU()]
            previous = channels
        self.pyramid = nn.Sequential(*layers)
        self.out = nn.Linear(previous * side * side, config.hidden)
        self.norm = nn.LayerNorm(config.hidden)

    def forward(self, pixels: Tensor) -> Tensor:
        features = self.pyramid(pixels.contiguous(memory_format=torch.channels_last))
        return self.norm(self.out(features.flatten(1)))
