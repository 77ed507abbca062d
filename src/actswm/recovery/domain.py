"""How far a video is from what a model was trained on: looks and motion over a second against training's.

Each stretch of a video is described by means over its steps; the score is the whitened distance to the nearest
stretches of training, in units of the distance that all but few held-out stretches of the model's own game keep.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .motion import LOOKS, MotionGrid

Array = NDArray[np.floating]
STRETCH = 32
"""Raw steps of a stretch: long enough that a player who stands still is not a frozen picture."""
EVERY = 8
"""Raw steps that one score stands for: stretches that overlap by so much are nearly the same."""
_KEPT, _NEAREST = 1024, 3
_SHRINKAGE = 0.05
_OWN = 0.99
"""Share of the held-out stretches of the model's own game that lie within the limit."""
_TINY = 0.05


def described(motion: Array, grid: MotionGrid) -> NDArray[np.float64]:
    """Figures of raw steps (T, size) -> descriptors (T / EVERY, D), each of the stretch around a step.

    Places are left out: a game has many, and what they have in common is how it draws them.
    """
    flow = motion[:, : grid.flow_size].reshape(len(motion), -1, 2)
    speed = np.linalg.norm(flow, axis=2).mean(1)
    uneven = np.linalg.norm(flow - flow.mean(1, keepdims=True), axis=2).mean(1)
    flicker = np.abs(motion[:, grid.flow_size + grid.thumb_size : -LOOKS]).mean(1)
    moves = np.log(_TINY + np.stack([speed, uneven, flicker, motion[:, -LOOKS]], 1))
    return _means(np.concatenate([moves, motion[:, 1 - LOOKS :]], 1).astype(np.float64))


def _means(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over the STRETCH rows around each; at the ends over the nearest whole stretch, if there is one."""
    total = np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, 0)])
    rows = len(steps)
    begin = np.clip(np.arange(0, rows, EVERY) - STRETCH // 2, 0, max(0, rows - STRETCH))
    end = np.minimum(begin + STRETCH, rows)
    return (total[end] - total[begin]) / (end - begin)[:, None]


class Domain(nn.Module):
    """Whitened stretches of the training split, and how near to them the game itself stays; saved with the model."""

    centre: Tensor
    whiten: Tensor
    known: Tensor
    limit: Tensor

    def __init__(self, grid: MotionGrid) -> None:
        super().__init__()
        self.grid = grid
        size = LOOKS + 3
        self.register_buffer("centre", torch.zeros(size))
        self.register_buffer("whiten", torch.eye(size))
        self.register_buffer("known", torch.zeros(_KEPT, size))
        self.register_buffer("limit", torch.ones(()))

    def fit(self, training: Array, held_out: Array) -> None:
        """Descriptors (N, D) of the training split, and of the validation split, which sets the limit."""
        centre, spread = training.mean(0), training.std(0) + 1e-3
        scaled = (training - centre) / spread
        covariance = scaled.T @ scaled / max(1, len(scaled)) + _SHRINKAGE * np.eye(training.shape[1])
        values, vectors = np.linalg.eigh(covariance)
        self.centre.copy_(torch.from_numpy(centre))
        self.whiten.copy_(torch.from_numpy(vectors / np.sqrt(values) / spread[:, None]))
        chosen = np.linspace(0, len(training) - 1, _KEPT).astype(int)  # over again where there are fewer
        self.known.copy_(self._whitened(training[chosen]))
        self.limit.copy_(self._distance(held_out).quantile(_OWN).clamp_min(1e-6))

    def score(self, motion: Array) -> NDArray[np.float32]:
        """Figures of raw steps (T, size) -> (T,): above 1 is off-domain."""
        scores = self._distance(described(motion, self.grid)) / self.limit
        return np.repeat(scores.numpy(), EVERY)[: len(motion)].astype(np.float32)

    def _whitened(self, descriptors: Array) -> Tensor:
        return (torch.from_numpy(descriptors).float() - self.centre) @ self.whiten

    def _distance(self, descriptors: Array) -> Tensor:
        """Root mean square over the descriptor, and over the nearest known stretches."""
        far = torch.cdist(self._whitened(descriptors), self.known)
        nearest = far.topk(min(_NEAREST, far.shape[1]), largest=False).values
        return (nearest.square().mean(1) / descriptors.shape[1]).sqrt()
