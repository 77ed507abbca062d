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

from ..errors import UserError
from .products import attention, causal_bias


@dataclass
class PredictorConfig:
    """The paper's size. `context` is H, the number of frames that a prediction is made from."""

    context: int = 32
    window: str = "slide"
    """`slide`: H positions, so that every step of a rollout moves all frames by one (LeWM, the paper). `grow`: more
    positions than H. A rollout adds frames to its window and moves none, so what has been computed stays valid."""
    positions: int = 0
    """Of a growing window; where they end it slides. 0: twice the context."""
    residual: bool = False
    """Predict the change of the latent instead of the next latent. Not in the paper."""
    depth: int = 6
    heads: int = 16
    head_dim: int = 64
    mlp: int = 2048
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if self.window not in ("slide", "grow"):
            raise UserError(f"unknown predictor.window {self.window!r}; use slide or grow")
        if self.positions and (self.window == "slide" or self.positions <= self.context):
            raise UserError(
                f"predictor.positions={self.positions} is for window=grow, and more than the context {self.context}"
            )

    @property
    def length(self) -> int:
        """Frames that fit into the window."""
        return self.context if self.window == "slide" else self.positions or 2 * self.context


class KeysValues(NamedTuple):
    """Keys and values of some tokens: (B, S, T, heads, head_dim) each."""

    keys: Tensor
    values: Tensor

    def then(self, later: KeysValues) -> KeysValues:
        return KeysValues(*(torch.cat(pair, 2) for pair in zip(self, later)))


class Modulation(NamedTuple):
    """What an action does to its token in one block, each (..., D). `factor` is AdaLN's 1 + scale."""

    shift: Tensor
    factor: Tensor
    gate: Tensor
    mlp_shift: Tensor
    mlp_factor: Tensor
    mlp_gate: Tensor

    def tokens(self, first: int, last: int) -> Modulation:
        """Of the tokens first .. last - 1, the token axis being the last but one."""
        return Modulation(*(part[..., first:last, :] for part in self))


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

    def project(self, x: Tensor, first: int, last: int) -> Tensor:
        """Parts first .. last - 1 of (query, key, value), side by side: (..., heads * d) each."""
        inner = self.out.in_features
        return F.linear(self.norm(x), self.qkv.weight[first * inner : last * inner])

    def _parts(self, x: Tensor, first: int, last: int) -> list[Tensor]:
        """The same apart, each (B, S, T, heads, d)."""
        projected = self.project(x, first, last)
        return [part.unflatten(-1, (self.heads, -1)) for part in projected.chunk(last - first, -1)]

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, KeysValues]:
        query, keys, values = self._parts(x, 0, 3)
        return query, KeysValues(keys, values)

    def queries(self, x: Tensor) -> Tensor:
        return self._parts(x, 0, 1)[0]

    def keys_values(self, x: Tensor) -> KeysValues:
        """Of tokens whose queries nobody needs."""
        return KeysValues(*self._parts(x, 1, 3))

    def attend_within(self, query: Tensor, own: KeysValues) -> Tensor:
        """Causal attention of tokens (B, S, T, heads, d) that have no past -> (B, S, T, D)."""
        q, k, v = (t.flatten(0, 1).transpose(1, 2) for t in (query, *own))
        rate = self.dropout if self.training else 0.0
        mixed = attention(q, k, v, causal=True, dropout=rate).transpose(1, 2).flatten(2).unflatten(0, query.shape[:2])
        return shared_dropout(self.out(mixed), self.dropout, self.training)

    def attend(self, query: Tensor, own: KeysValues, shared: KeysValues | None) -> Tensor:
        """The last Q tokens' `query` over `shared` keys (S = 1) and then `own` ones -> (B, S, Q, D)."""
        batch, sequences, count, heads, dim = query.shape
        # (B, heads, S * Q, d): the past is the same for all sequences, so one product serves them all
        folded = (query * dim**-0.5).permute(0, 3, 1, 2, 4).reshape(batch, heads, -1, dim)
        scores = folded.view(batch, heads, sequences, count, dim) @ own.keys.permute(0, 3, 1, 4, 2)
        if count > 1:
            scores = scores + causal_bias(count, own.keys.shape[2], scores)
        if shared is None:
            weights = shared_dropout(scores.softmax(-1), self.dropout, self.training, axis=2)
            mixed = weights @ own.values.permute(0, 3, 1, 2, 4)
        else:
            to_past = folded @ shared.keys[:, 0].permute(0, 2, 3, 1)
            past = to_past.shape[-1]
            scores = torch.cat([to_past.view(*scores.shape[:-1], past), scores], -1)
            weights = shared_dropout(scores.softmax(-1), self.dropout, self.training, axis=2)
            on_past, on_own = weights.split([past, weights.shape[-1] - past], -1)
            from_past = on_past.reshape(batch, heads, -1, past) @ shared.values[:, 0].transpose(1, 2)
            mixed = on_own @ own.values.permute(0, 3, 1, 2, 4) + from_past.view(
                batch, heads, sequences, count, dim
            )
        mixed = mixed.permute(0, 2, 3, 1, 4).flatten(-2)
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

    def modulation(self, activated: Tensor) -> Modulation:
        """Of tokens whose action features went through SiLU."""
        shift, scale, gate, mlp_shift, mlp_scale, mlp_gate = self.modulate(activated).chunk(6, -1)
        return Modulation(shift, 1 + scale, gate, mlp_shift, 1 + mlp_scale, mlp_gate)

    def attention_input(self, x: Tensor, modulation: Modulation) -> Tensor:
        return _modulated_norm(x, modulation.shift, modulation.factor)

    def update(self, x: Tensor, modulation: Modulation, attended: Tensor) -> Tensor:
        """Both residual branches, once attention has been computed."""
        x = torch.addcmul(x, modulation.gate, attended)
        hidden = self.expand(self.mlp_norm(_modulated_norm(x, modulation.mlp_shift, modulation.mlp_factor)))
        hidden = shared_dropout(F.gelu(hidden), self.dropout, self.training)
        out = shared_dropout(self.contract(hidden), self.dropout, self.training)
        return torch.addcmul(x, modulation.mlp_gate, out)

    def forward(self, x: Tensor, modulation: Modulation) -> tuple[Tensor, KeysValues]:
        """All tokens of (B, S, T, D), without a past."""
        query, own = self.attention.queries_keys_values(self.attention_input(x, modulation))
        return self.update(x, modulation, self.attention.attend_within(query, own)), own


class Predictor(nn.Module):
    def __init__(self, config: PredictorConfig, dim: int) -> None:
        super().__init__()
        self.context = config.context
        self.length = config.length
        self.residual = config.residual
        self.positions = nn.Parameter(torch.randn(config.length, dim))
        self._blocks = nn.ModuleList(Block(config, dim) for _ in range(config.depth))
        self.norm = nn.LayerNorm(dim)

    @property
    def blocks(self) -> list[Block]:
        return list(self._blocks)  # type: ignore[arg-type]

    def modulations(self, features: Tensor) -> list[Modulation]:
        """Per block, what the action features (..., D) do to their tokens."""
        activated = F.silu(features)
        return [block.modulation(activated) for block in self.blocks]

    def forward(self, latents: Tensor, features: Tensor) -> Tensor:
        """Latents (B, T, D) with their action features -> outputs (B, T, D), position i knowing tokens <= i."""
        x = (latents + self.positions[: latents.shape[1]]).unsqueeze(1)
        for block, modulation in zip(self.blocks, self.modulations(features.unsqueeze(1))):
            x, _ = block(x, modulation)
        return self.norm(x).squeeze(1)

    def following(self, latents: Tensor, projected: Tensor) -> Tensor:
        """The next latents (..., D), from the present ones and the projected outputs."""
        return latents + projected if self.residual else projected


def _modulated_norm(x: Tensor, shift: Tensor, factor: Tensor) -> Tensor:
    # weights of one: on a CPU torch normalises twice as fast with weights as without
    ones, zeros = x.new_ones(x.shape[-1]), x.new_zeros(x.shape[-1])
    return torch.addcmul(shift, F.layer_norm(x, x.shape[-1:], ones, zeros, eps=1e-6), factor)


def shared_dropout(x: Tensor, rate: float, training: bool, axis: int = 1) -> Tensor:
    """Dropout with one mask for all S sequences (`axis`), or noise alone would set their futures apart."""
    if not training or rate == 0:
        return x
    mask = torch.empty_like(x.narrow(axis, 0, 1)).bernoulli_(1 - rate).div_(1 - rate)
    return x * mask
