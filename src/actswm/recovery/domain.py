"""How far a video is from what a model was trained on: colours, edges and motion over a second against training's.

Each stretch of a video is described by means over its steps; the score is the Mahalanobis distance to the training
stretches, in units of the distance that all but few held-out stretches of the model's own game keep.
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
_SHRINKAGE = 0.02
_OWN = 0.99
"""Share of the held-out stretches of the model's own game that lie within the limit."""
_TINY = 0.05


def described(motion: Array, grid: MotionGrid) -> NDArray[np.float64]:
    """Figures of raw steps (T, size) -> descriptors (T, D), each of the stretch around its step."""
    flow = motion[:, : grid.flow_size].reshape(len(motion), -1, 2)
    speed = np.linalg.norm(flow, axis=2)
    colours = motion[:, grid.flow_size : grid.flow_size + grid.thumb_size]
    change = np.abs(motion[:, grid.flow_size + grid.thumb_size : -LOOKS]).mean(1)
    uneven = np.linalg.norm(flow - flow.mean(1, keepdims=True), axis=2).mean(1)
    logs = np.log(_TINY + np.stack([speed.mean(1), uneven, change, *motion[:, -LOOKS:].T], 1))
    return _means(np.concatenate([colours, logs, logs.astype(np.float64) ** 2], 1).astype(np.float64))


def _means(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over the STRETCH rows around each; at the ends over the nearest whole stretch, if there is one."""
    total = np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, 0)])
    rows = len(steps)
    begin = np.clip(np.arange(rows) - STRETCH // 2, 0, max(0, rows - STRETCH))
    end = np.minimum(begin + STRETCH, rows)
    return (total[end] - total[begin]) / (end - begin)[:, None]


class Domain(nn.Module):
    """The training stretches' mean and whitening; saved with the model."""

    centre: Tensor
    whiten: Tensor
    limit: Tensor

    def __init__(self, grid: MotionGrid) -> None:
        super().__init__()
        self.grid = grid
        size = grid.thumb_size + 2 * (LOOKS + 3)
        self.register_buffer("centre", torch.zeros(size, dtype=torch.float64))
        self.register_buffer("whiten", torch.eye(size, dtype=torch.float64))
        self.register_buffer("limit", torch.ones((), dtype=torch.float64))

    def fit(self, training: Array, held_out: Array) -> None:
        """Descriptors (N, D) of the training split, and of the validation split, which sets the limit."""
        spread = training.std(0) + 1e-3
        centre = training.mean(0)
        scaled = (training - centre) / spread
        covariance = scaled.T @ scaled / max(1, len(scaled)) + _SHRINKAGE * np.eye(training.shape[1])
        values, vectors = np.linalg.eigh(covariance)
        self.centre.copy_(torch.from_numpy(centre))
        self.whiten.copy_(torch.from_numpy(vectors / np.sqrt(values) / spread[:, None]))
        self.limit.fill_(1.0)
        self.limit.fill_(float(np.quantile(self._distance(held_out), _OWN)))

    def score(self, motion: Array) -> NDArray[np.float32]:
        """Figures of raw steps (T, size) -> (T,): above 1 is off-domain."""
        return (self._distance(described(motion, self.grid)) / float(self.limit)).astype(np.float32)

    def _distance(self, descriptors: Array) -> NDArray[np.float64]:
        whitened = (descriptors - self.centre.numpy()) @ self.whiten.numpy()
        return np.sqrt((whitened**2).mean(1))
