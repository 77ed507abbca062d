"""Percentile bootstrap over windows, or over the episodes that they come from.

Windows of one episode overlap and show the same places. Where many of them share an episode, intervals over windows
are too narrow: `groups` (N,) says which windows are to be drawn together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Groups = NDArray[np.integer] | None


@dataclass(frozen=True)
class Estimate:
    """A mean over windows with its 95 % interval; NaN where there was nothing to average."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


NOTHING = Estimate(math.nan, math.nan, math.nan)


def bootstrap(values: NDArray[np.floating], groups: Groups = None) -> Estimate:
    """Mean of per-window values (N,) and the 2.5 and 97.5 percentiles of resampled means."""
    return bootstrap_steps(np.asarray(values, np.float64)[:, None], groups)[0]


def bootstrap_steps(values: NDArray[np.floating], groups: Groups = None) -> tuple[Estimate, ...]:
    """Per-window values (N, K) -> the mean of each column; NaN entries are left out."""
    present = np.isfinite(values)
    return bootstrap_ratio(np.where(present, values, 0), present, groups)


def bootstrap_ratio(
    numerator: NDArray[np.floating],
    denominator: NDArray[np.floating] | NDArray[np.bool_],
    groups: Groups = None,
) -> tuple[Estimate, ...]:
    """Per column of (N, K): sum numerator / sum denominator, windows (rows) being resampled as a whole."""
    both = np.stack([np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)], 1)
    sums = resampled_sums(both if groups is None else _summed(both, groups))
    with np.errstate(invalid="ignore", divide="ignore"):
        value = both[:, 0].sum(0) / both[:, 1].sum(0)
        samples = sums[:, 0] / sums[:, 1]
    return tuple(estimate(v, column) for v, column in zip(value, samples.T))


def resampled_sums(values: NDArray[np.floating], resamples: int = 1000, seed: int = 0) -> NDArray[np.float64]:
    """Per-window values (N, ...) -> sums (resamples, ...) over N windows drawn with replacement.

    For statistics that are ratios of sums, such as recall: sum first, then divide.
    """
    values = np.asarray(values, np.float64)
    windows = len(values)
    weights = np.random.default_rng(seed).multinomial(windows, np.full(windows, 1 / windows), resamples)
    return np.tensordot(weights.astype(np.float64), values, 1)


def _summed(values: NDArray[np.float64], groups: NDArray[np.integer]) -> NDArray[np.float64]:
    """(N, ...) -> (G, ...), the sums of each group; with a single group there are only its windows to draw from."""
    names, index = np.unique(groups, return_inverse=True)
    if len(names) == 1:
        return values
    sums = np.zeros((len(names), *values.shape[1:]))
    np.add.at(sums, index, values)
    return sums


def estimate(value: float, samples: NDArray[np.floating]) -> Estimate:
    """A value with the 2.5 and 97.5 percentiles of resampled ones; undefined resamples are left out."""
    defined = samples[np.isfinite(samples)]
    low, high = np.percentile(defined, [2.5, 97.5]) if len(defined) else (np.nan, np.nan)
    return Estimate(float(value), float(low), float(high))
