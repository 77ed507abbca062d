"""Hand-made worlds with a world model's interface, whose truth is known."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from actswm.controls import KEYS14, ActionEncoding
from actswm.model import Context
from actswm.recovery.prior import ActionPrior


class MadeWorld:
    """z_t+1 = z_t + M a_t with an invertible M; `blind` leaves the action out. Frames are not looked at."""

    dtype = torch.float32
    context_length = 3
    image_size = 32

    def __init__(self, blind: bool = False, kind: str = "sliding", seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        rotation, _ = np.linalg.qr(rng.normal(size=(KEYS14.size, KEYS14.size)))
        stretch = rng.uniform(0.7, 1.4, KEYS14.size)
        self.effect = torch.from_numpy((rotation * stretch).T.astype(np.float32)) * (0 if blind else 1)
        self.encoding = ActionEncoding(KEYS14, kind)

    def encode(self, pixels: Tensor) -> Tensor:
        """Some latent that depends on the picture: mean colours of its rows."""
        return pixels.float().mean((-2, -1))[..., : KEYS14.size] / 255

    def prepare(self, context: Context) -> None:
        return None

    def rollout(self, context: Context, actions: Tensor, past: None = None) -> Tensor:
        vectors = actions.unflatten(-1, (-1, KEYS14.size)).mean(-2)
        return context.latents[:, -1, None, None] + (vectors @ self.effect).cumsum(2)

    def context(self) -> Context:
        actions = torch.zeros(1, self.encoding.lead + 2, self.encoding.step_dim)
        return Context(torch.randn(1, 3, KEYS14.size), actions)


def key_presses(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return (rng.random((*shape, KEYS14.size)) < 0.3).astype(np.float32)


def made_pool(seed: int = 5, rows: int = 400) -> ActionPrior:
    return ActionPrior.of(key_presses(np.random.default_rng(seed), rows), "made")
