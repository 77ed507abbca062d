"""The action encoder g: an action block becomes the feature that modulates its frame's token."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn


@dataclass
class ActionConfig:
    """`bottleneck` is the width of LeWM's first, linear layer (10 there, silently); None leaves it out."""

    bottleneck: int | None = None
    expansion: int = 4


class ActionEncoder(nn.Module):
    """(..., input_dim) -> (..., dim)."""

    def __init__(self, config: ActionConfig, input_dim: int, dim: int) -> None:
        super().__init__()
        self.squeeze = nn.Linear(input_dim, config.bottleneck) if config.bottleneck else nn.Identity()
        width = config.bottleneck or input_dim
        self.embed = nn.Sequential(
            nn.Linear(width, config.expansion * dim), nn.SiLU(), nn.Linear(config.expansion * dim, dim)
        )

    def forward(self, actions: Tensor) -> Tensor:
        return self.embed(self.squeeze(actions))
