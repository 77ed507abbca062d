"""Probabilities that mean what they say: a slope and an offset a control, fitted on episodes that trained nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from .metrics import Counts

Array = NDArray[np.floating]
BINS = 15
_THRESHOLDS = np.linspace(0.05, 0.9, 35)
_PULL = 1e-3
"""A weak pull towards the network's own logits, so that a control that was hardly pressed keeps them."""


@dataclass(frozen=True)
class Reliability:
    """The reliability diagram of one control: what was promised and what came, in bins of equal width."""

    name: str
    count: NDArray[np.int64]
    promised: Array
    came: Array

    @property
    def error(self) -> float:
        """Expected calibration error: the bins' |promised - came|, weighted by how many fell into each."""
        used = self.count > 0
        apart = np.abs(self.promised[used] - self.came[used])
        return float((apart * self.count[used]).sum() / max(1, self.count.sum()))


def reliability(name: str, probability: Array, pressed: NDArray[np.bool_]) -> Reliability:
    """Probabilities (N,) against what was pressed (N,)."""
    bins = np.minimum((probability * BINS).astype(int), BINS - 1)
    count = np.bincount(bins, minlength=BINS)
    divisor = np.maximum(count, 1)
    return Reliability(
        name,
        count,
        np.bincount(bins, probability, BINS) / divisor,
        np.bincount(bins, pressed.astype(float), BINS) / divisor,
    )


def fit_calibration(logits: Tensor, pressed: Tensor) -> tuple[Tensor, Tensor]:
    """Logits and presses (N, A) -> slope and offset (A,) of the least cross-entropy (Platt's scaling)."""
    with torch.enable_grad():
        slope = torch.zeros(logits.shape[1], requires_grad=True)
        offset = torch.zeros(logits.shape[1], requires_grad=True)
        optimizer = torch.optim.LBFGS([slope, offset], max_iter=100, line_search_fn="strong_wolfe")
        target = pressed.float()

        def loss() -> Tensor:
            optimizer.zero_grad()
            wrong = F.binary_cross_entropy_with_logits(logits * slope.exp() + offset, target, reduction="none")
            value = (wrong.mean(0) + _PULL * (slope.square() + offset.square())).sum()
            value.backward()
            return value

        optimizer.step(loss)
    return slope.detach().exp(), offset.detach()


def best_thresholds(probability: Array, pressed: NDArray[np.bool_]) -> NDArray[np.float32]:
    """(N, A) each -> per control where balanced accuracy and F1 together are best; .5 where nothing was pressed.

    Above .5 alone, a key that is pressed in a tenth of the steps would hardly ever be labelled.
    """
    totals = []
    for threshold in _THRESHOLDS:
        mine = probability > threshold
        outcomes = (mine & pressed, mine & ~pressed, ~mine & pressed, ~mine & ~pressed)
        counts = Counts(*(outcome.sum(0).astype(float) for outcome in outcomes))
        totals.append(counts.balanced_accuracy + counts.f1)
    total = np.stack(totals)
    known = np.isfinite(total).all(0)
    best = _THRESHOLDS[np.where(np.isfinite(total), total, -1).argmax(0)]
    return np.where(known, best, 0.5).astype(np.float32)
