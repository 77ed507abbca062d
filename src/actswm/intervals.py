"""Percentile bootstrap over windows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Estimate:
    """A mean over windows with its 95 % interval; NaN where there was nothing to average."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def bootstrap(values: NDArray[np.floating], resamples: int = 1000, seed: int = 0) -> Estimate:
    """Mean of per-window values (N,) and the 2.5 and 97.5 percentiles of resampled means."""
    return bootstrap_ratio(values[:, None], np.ones((len(values), 1)), resamples, seed)[0]


def bootstrap_steps(values: NDArray[np.floating]) -> tuple[Estimate, ...]:
    """Per-window values (N, K) -> the mean of each column; NaN entries are left out."""
    present = np.isfinite(values)
    return bootstrap_ratio(np.where(present, values, 0), present)


def bootstrap_ratio(
    numerator: NDArray[np.floating],
    denominator: NDArray[np.floating] | NDArray[np.bool_],
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Per column of (N, K): sum numerator / sum denominator, windows (rows) being resampled as a whole."""
    top, bottom = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    weights = _weights(len(top), resamples, seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = top.sum(0) / bottom.sum(0)
        drawn = (weights @ top) / (weights @ bottom)
    drawn[~np.isfinite(drawn)] = np.nan
    estimates = []
    for value, column in zip(ratio, drawn.T):
        kept = column[~np.isnan(column)]
        low, high = np.percentile(kept, [2.5, 97.5]) if len(kept) else (np.nan, np.nan)
        estimates.append(Estimate(float(value), float(low), float(high)))
    return tuple(estimates)


@lru_cache(maxsize=4)
def _weights(count: int, resamples: int, seed: int) -> NDArray[np.float64]:
    """How often each of `count` windows is drawn in each resample, (resamples, count)."""
    drawn = np.random.default_rng(seed).integers(count, size=(resamples, count))
    weights = np.zeros((resamples, count))
    np.add.at(weights, (np.arange(resamples)[:, None], drawn), 1)
    return weights
