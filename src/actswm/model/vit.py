"""The paper's encoder: a ViT whose CLS output, after the final LayerNorm, goes to the projector."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from .products import attention


@dataclass
class ViTConfig:
    """ViT-tiny at the paper's size."""

    patch: int = 16
    hidden: int = 192
    depth: int = 12
    heads: int = 3
    mlp: int = 768


class ViTBlock(nn.Module):
    def __init__(self, config: ViTConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.norm1 = nn.LayerNorm(config.hidden, eps=1e-12)
        self.qkv = nn.Linear(config.hidden, 3 * config.hidden)
        self.out = nn.Linear(config.hidden, config.hidden)
        self.norm2 = nn.LayerNorm(config.hidden, eps=1e-12)
        self.expand = nn.Linear(config.hidden, config.mlp)
        self.contract = nn.Linear(config.mlp, config.hidden)

    def forward(self, x: Tensor, queries: int | None = None) -> Tensor:
        """(N, T, D) -> (N, queries or T, D): only the first `queries` tokens are computed if given."""
        normed = self.norm1(x)
        dim = x.shape[-1]
        if queries is None:
            q, k, v = self.qkv(normed).chunk(3, -1)
        else:
            x = x[:, :queries]
            weight, bias = self.qkv.weight, self.qkv.bias
            q = F.linear(normed[:, :queries], weight[:dim], bias[:dim])
            k, v = F.linear(normed, weight[dim:], bias[dim:]).chunk(2, -1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))
        attended = attention(q, k, v).transpose(1, 2).flatten(2)
        x = x + self.out(attended)
        return x + self.contract(F.gelu(self.expand(self.norm2(x))))


class ViTEncoder(nn.Module):
    """(N, 3, h, w) normalised pixels -> (N, hidden)."""

    def __init__(self, config: ViTConfig, image_size: int, checkpointing: bool = False) -> None:
        super().__init__()
        if image_size % config.patch:
            raise ValueError(f"image size {image_size} is not a multiple of patch {config.patch}")
        self.out_dim = config.hidden
        self.checkpointing = checkpointing
        self.patches = nn.Conv2d(3, config.hidden, config.patch, config.patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, config.hidden))
        self.positions = nn.Parameter(torch.zeros(1, (image_size // config.patch) ** 2 + 1, config.hidden))
        self.blocks = nn.ModuleList(ViTBlock(config) for _ in range(config.depth))
        self.norm = nn.LayerNorm(config.hidden, eps=1e-12)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Conv2d):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        nn.init.trunc_normal_(self.cls, std=0.02)
        nn.init.trunc_normal_(self.positions, std=0.02)

    def forward(self, pixels: Tensor) -> Tensor:
        x = self.patches(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.positions
        for number, block in enumerate(self.blocks):
            queries = 1 if number == len(self.blocks) - 1 else None  # only CLS leaves the last block
            if self.checkpointing and torch.is_grad_enabled():
                x = checkpoint(block, x, queries, use_reentrant=False)
            else:
                x = block(x, queries)
        return self.norm(x[:, 0])
