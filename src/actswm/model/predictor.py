"""The predictor p: a causal transformer over frame tokens, each modulated by the action that leaves its frame.

Equation 1 of the paper. The token of frame t is z_t plus a learned position; every block conditions it on the
action feature e_t by AdaLN-zero, so at initialisation actions have no effect at all.

The blocks work on (B, S, T, D): B contexts, S action sequences from each, T tokens. `rollout.py` feeds them
tokens that all sequences share (S = 1) and tokens that differ apart; `Predictor.forward` is the plain case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class PredictorConfig:
    """The paper's size. `context` is H, the number of positions."""

    context: int = 32
    depth: int = 6
    heads: int = 16
    head_dim: int = 64
    mlp: int = 2048
    dropout: float = 0.1


class KeysValues(NamedTuple):
    """Keys and values of some tokens: (B, S, heads, T, head_dim) each."""

    keys: Tensor
    values: Tensor

    def then(self, later: KeysValues) -> KeysValues:
        return KeysValues(*(torch.cat(pair, -2) for pair in zip(self, later)))


class Attention(nn.Module):
    """Causal attention of new tokens to themselves and to a past that all S sequences share."""

    def __init__(self, config: PredictorConfig, dim: int) -> None:
        super().__init__()
        inner = config.heads * config.head_dim
        self.heads = config.heads
        self.dropout = config.dropout
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * inner, bias=False)
        self.out = nn.Linear(inner, dim)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(-2, -3)

    def keys_values(self, x: Tensor) -> KeysValues:
        """Of tokens (B, S, T, D) whose queries nobody needs."""
        inner = self.out.in_features
        keys, values = F.linear(self.norm(x), self.qkv.weight[inner:]).chunk(2, -1)
        return KeysValues(self._split(keys), self._split(values))

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, KeysValues]:
        query, keys, values = self.qkv(self.norm(x)).chunk(3, -1)
        return self._split(query), KeysValues(self._split(keys), self._split(values))

    def queries(self, x: Tensor) -> Tensor:
        return self._split(F.linear(self.norm(x), self.qkv.weight[: self.out.in_features]))

    def attend(self, query: Tensor, own: KeysValues, shared: KeysValues | None) -> Tensor:
        """The last tokens' `query` (B, S, heads, Q, d) over `shared` (S = 1) and `own` keys -> (B, S, Q, D)."""
        count = query.shape[-2]
        scores = query @ own.keys.transpose(-1, -2) * query.shape[-1] ** -0.5
        if count > 1:
            scores = scores + _causal_bias(count, own.keys.shape[-2], scores)
        if shared is None:
            weights = shared_dropout(scores.softmax(-1), self.dropout, self.training)
            mixed = weights @ own.values
        else:
            past = shared.keys.shape[-2]
            folded = query.transpose(1, 2).flatten(
                2, 3
            )  # (B, heads, S * Q, d): one product for all sequences
            to_past = folded @ shared.keys[:, 0].transpose(-1, -2) * query.shape[-1] ** -0.5
            to_past = to_past.unflatten(2, (-1, count)).transpose(1, 2)
            weights = torch.cat([to_past, scores], -1).softmax(-1)
            weights = shared_dropout(weights, self.dropout, self.training)
            from_past = weights[..., :past].transpose(1, 2).flatten(2, 3) @ shared.values[:, 0]
            mixed = torch.add(
                from_past.unflatten(2, (-1, count)).transpose(1, 2), weights[..., past:] @ own.values
            )
        mixed = mixed.transpose(-2, -3).flatten(-2)
        return shared_dropout(self.out(mixed), self.dropout, self.training)


class Block(nn.Module):
    """AdaLN-zero transformer block. Attention and MLP each normalise their modulated input once more."""

    def __init__(self, config: PredictorConfig, dim: int) -> None:
        super().__init__()
        self.dropout = config.dropout
        self.modulate = nn.Linear(dim, 6 * dim)
        nn.init.zeros_(self.modulate.weight)
        nn.init.zeros_(self.modulate.bias)
        self.attention = Attention(config, dim)
        self.mlp_norm = nn.LayerNorm(dim)
        self.expand = nn.Linear(dim, config.mlp)
        self.contract = nn.Linear(config.mlp, dim)

    def attention_input(self, x: Tensor, modulation: Tensor) -> Tensor:
        shift, scale = modulation.chunk(6, -1)[:2]
        return _modulated_norm(x, shift, scale)

    def update(self, x: Tensor, modulation: Tensor, attended: Tensor) -> Tensor:
        """Both residual branches, once attention has been computed."""
        _, _, gate, shift, scale, mlp_gate = modulation.chunk(6, -1)
        x = torch.addcmul(x, gate, attended)
        hidden = self.expand(self.mlp_norm(_modulated_norm(x, shift, scale)))
        hidden = shared_dropout(F.gelu(hidden), self.dropout, self.training)
        out = shared_dropout(self.contract(hidden), self.dropout, self.training)
        return torch.addcmul(x, mlp_gate, out)

    def forward(
        self, x: Tensor, modulation: Tensor, shared: KeysValues | None = None
    ) -> tuple[Tensor, KeysValues]:
        """All tokens of (B, S, T, D), after a past that the S sequences share."""
        query, own = self.attention.queries_keys_values(self.attention_input(x, modulation))
        return self.update(x, modulation, self.attention.attend(query, own, shared)), own


class Predictor(nn.Module):
    def __init__(self, config: PredictorConfig, dim: int) -> None:
        super().__init__()
        self.context = config.context
        self.positions = nn.Parameter(torch.randn(config.context, dim))
        self._blocks = nn.ModuleList(Block(config, dim) for _ in range(config.depth))
        self.norm = nn.LayerNorm(dim)

    @property
    def blocks(self) -> list[Block]:
        return list(self._blocks)  # type: ignore[arg-type]

    def modulations(self, features: Tensor) -> list[Tensor]:
        """Per block, what an action feature (..., D) does to its token: (..., 6 D)."""
        activated = F.silu(features)
        return [block.modulate(activated) for block in self.blocks]

    def forward(self, latents: Tensor, features: Tensor) -> Tensor:
        """Latents (B, T, D) with their action features -> outputs (B, T, D), position i knowing tokens <= i."""
        x = (latents + self.positions[: latents.shape[1]]).unsqueeze(1)
        for block, modulation in zip(self.blocks, self.modulations(features.unsqueeze(1))):
            x, _ = block(x, modulation)
        return self.norm(x).squeeze(1)


def _modulated_norm(x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    return torch.addcmul(shift, F.layer_norm(x, x.shape[-1:], eps=1e-6), 1 + scale)


def _causal_bias(queries: int, keys: int, like: Tensor) -> Tensor:
    """-inf where a query would see a later key; the queries are the last `queries` of the keys."""
    bias = torch.full((queries, keys), float("-inf"), dtype=like.dtype, device=like.device)
    return bias.triu(keys - queries + 1)


def shared_dropout(x: Tensor, rate: float, training: bool) -> Tensor:
    """Dropout on (B, S, ...) with one mask for all S sequences, or noise alone would set futures apart."""
    if not training or rate == 0:
        return x
    mask = torch.empty_like(x[:, :1]).bernoulli_(1 - rate).div_(1 - rate)
    return x * mask
