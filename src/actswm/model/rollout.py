"""The rollout engine: many action sequences from one context, each token computed as rarely as exactness allows.

The predictor is causal and all sequences share their past. At step k the window holds the frames
t+k-L .. t+k-1, where L is its length (H where it slides). Those before t carry recorded actions: their tokens
are the same for every sequence and are computed once (S = 1). From frame t on actions differ: those k tokens
are computed per sequence. With L = H = 32 and K = 12 that makes 78 tokens a sequence instead of 384, with
L = 44 only 12. In the last block only the newest token's query and MLP are needed, and of all others only keys
and values.

While the window still grows (fewer than L frames so far) positions do not move, keys and values stay valid,
and each step adds a single token. Once the window slides every token's position changes, so nothing may be
kept from one step to the next; but the shared part of step k is the same whatever the actions, so a `Past`
keeps it for all batches and iterations of a search.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from .predictor import KeysValues, Modulation, Predictor

Head = Callable[[Tensor], Tensor]
"""Predictor output (B, S, D) -> next latent (B, S, D)."""


class Past:
    """The part of a context that no candidate action can change, prepared for rollouts.

    `latents` (B, T, D) are the T <= H encoded context frames, the last being frame t; `features`
    (B, T - 1, D) the action features of all but the last, whose action is the first decision.
    """

    def __init__(self, predictor: Predictor, latents: Tensor, features: Tensor) -> None:
        frames = latents.shape[1]
        if features.shape[1] != frames - 1:
            raise ValueError(
                f"a context of {frames} frames has {frames - 1} actions, not {features.shape[1]}"
            )
        keep = min(frames, predictor.context)
        self.predictor = predictor
        self.latents = latents[:, frames - keep :].unsqueeze(1)
        self._features = features[:, frames - keep :]
        self._windows: list[list[KeysValues]] = []
        self._room: Tensor | None = None

    @property
    def frames(self) -> int:
        return self.latents.shape[2]

    def dropped(self, step: int) -> int:
        """Context frames that have left the window at a step (1-based)."""
        return max(0, self.frames + step - 1 - self.predictor.length)

    def prepare(self, horizon: int) -> None:
        """Compute the shared tokens of all windows up to `horizon`, unless that is done already."""
        count = min(self.dropped(horizon), self.frames - 2) + 1
        if count > len(self._windows):
            self._windows = self._compute(count)

    def keys_values(self, step: int) -> list[KeysValues] | None:
        """Per block, keys and values of the shared tokens in the window of `step`; None if none is left."""
        first = self.dropped(step)
        return self._windows[first] if first < self.frames - 1 else None

    def room(self, *shape: int) -> Tensor:
        """Memory for a rollout to write to, the same for each of a search: that of the system comes page by page."""
        room, inference = self._room, torch.is_inference_mode_enabled()
        if room is None or room.is_inference() != inference or room[:, : shape[1]].shape != torch.Size(shape):
            room = self._room = self.latents.new_empty(shape)
        return room

    def _compute(self, count: int) -> list[list[KeysValues]]:
        """Windows starting at context frame 0 .. count - 1, side by side where sequences otherwise are.

        Later windows hold fewer shared tokens; being causal, the padding behind them disturbs nobody.
        """
        predictor, tokens = self.predictor, self.frames - 1
        x = _windows(self.latents[:, 0, :-1], count) + predictor.positions[:tokens]
        windows: list[list[KeysValues]] = [[] for _ in range(count)]
        for block, modulation in zip(predictor.blocks, predictor.modulations(self._features)):
            modulation = Modulation(*(_windows(part, count) for part in modulation))
            if block is predictor.blocks[-1]:
                own = block.attention.keys_values(block.attention_input(x, modulation))
            else:
                x, own = block(x, modulation)
            for first, pair in enumerate(zip(*(part.split(1, 1) for part in own))):
                windows[first].append(KeysValues(*(part[:, :, : tokens - first] for part in pair)))
        return windows


def _windows(tokens: Tensor, count: int) -> Tensor:
    """(B, T, D) -> (B, count, T, D): the tokens from 0 on, from 1 on, ..., zeros behind the end. A view."""
    padded = F.pad(tokens, (0, 0, 0, count - 1))
    return padded.unfold(1, tokens.shape[1], 1).transpose(2, 3)


def roll_out(past: Past, features: Tensor, head: Head) -> Tensor:
    """Action features (B, S, K, D) of the decisions a_t .. a_t+K-1 -> predicted latents (B, S, K, D)."""
    predictor = past.predictor
    sequences, horizon = features.shape[1:3]
    past.prepare(horizon)
    modulations = predictor.modulations(features)
    # own tokens of the rollout: frame t (the last observed, shared by all) and then each prediction
    latents = [past.latents[:, :, -1].expand(-1, sequences, -1)]
    cache: list[KeysValues | None] = [None] * len(predictor.blocks)
    for step in range(1, horizon + 1):
        shared = past.keys_values(step)
        position = past.frames + step - 2 - past.dropped(step)
        if past.dropped(step) == 0:
            x = (latents[-1] + predictor.positions[position]).unsqueeze(2)
            first = step - 1
        else:  # the window slides: every token has a new position
            first = max(0, step - predictor.length)
            own = torch.stack(latents[first:], 2)
            x = own + predictor.positions[position + 1 - own.shape[2] : position + 1]
            cache = [None] * len(predictor.blocks)
        x, cache = _advance(predictor, x, [m.tokens(first, step) for m in modulations], shared, cache)
        latents.append(predictor.following(latents[-1], head(predictor.norm(x))))
    return torch.stack(latents[1:], 2)


def _advance(
    predictor: Predictor,
    x: Tensor,
    modulations: list[Modulation],
    shared: list[KeysValues] | None,
    cache: list[KeysValues | None],
) -> tuple[Tensor, list[KeysValues | None]]:
    """New tokens (B, S, T, D) through all blocks -> the newest one's output (B, S, D), and all own keys."""
    filled: list[KeysValues | None] = []
    for number, (block, modulation) in enumerate(zip(predictor.blocks, modulations)):
        entering = block.attention_input(x, modulation)
        if number == len(predictor.blocks) - 1 and x.shape[2] > 1:
            own = block.attention.keys_values(entering)
            query = block.attention.queries(entering[:, :, -1:])
            x, modulation = x[:, :, -1:], modulation.tokens(x.shape[2] - 1, x.shape[2])
        else:
            query, own = block.attention.queries_keys_values(entering)
        earlier = cache[number]
        own = own if earlier is None else earlier.then(own)
        filled.append(own)
        attended = block.attention.attend(query, own, shared[number] if shared else None)
        x = block.update(x, modulation, attended)
    return x[:, :, -1], filled
