"""Percentile bootstrap over windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Estimate:
    """A mean over windows with its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def bootstrap(values: NDArray[np.floating], resamples: int = 1000, seed: int = 0) -> Estimate:
    """Mean of per-window values (N,) and the 2.5 and 97.5 percentiles of resampled means."""
    values = np.asarray(values, np.float64)
    rng = np.random.default_rng(seed)
    means = values[rng.integers(len(values), size=(resamples, len(values)))].mean(1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(float(values.mean()), float(low), float(high))


def resampled_sums(values: NDArray[np.floating], resamples: int = 1000, seed: int = 0) -> NDArray[np.float64]:
    """Per-window values (N, ...) -> sums (resamples, ...) over N windows drawn with replacement.

    For statistics that are ratios of sums, such as recall: sum first, then divide.
    """
    values = np.asarray(values, np.float64)
    windows = len(values)
    weights = np.random.default_rng(seed).multinomial(windows, np.full(windows, 1 / windows), resamples)
    return np.tensordot(weights.astype(np.float64), values, 1)


def estimate(value: float, samples: NDArray[np.floating]) -> Estimate:
    """A value with the 2.5 and 97.5 percentiles of resampled ones; undefined resamples are left out."""
    defined = samples[np.isfinite(samples)]
    low, high = np.percentile(defined, [2.5, 97.5]) if len(defined) else (np.nan, np.nan)
    return Estimate(float(value), float(low), float(high))
