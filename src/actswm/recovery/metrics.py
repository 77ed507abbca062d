"""How well recovered actions agree with recorded ones (Q3): the paper's two accuracies, and what they hide.

Key accuracy is inflated by keys that are rarely pressed, active accuracy by pressing everything; so balanced
accuracy, precision, recall and F1 of each control stand beside them. Intervals: bootstrap over windows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..controls import Vocabulary
from ..intervals import NOTHING, Estimate, Groups, bootstrap, estimate, resampled_sums
from ..results import ControlScore, Scores

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Counts:
    """Outcomes per control: true and false positives and negatives, each (..., A)."""

    tp: Array
    fp: Array
    fn: Array
    tn: Array

    @property
    def precision(self) -> Array:
        return _ratio(self.tp, self.tp + self.fp, undefined=0.0)

    @property
    def recall(self) -> Array:
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> Array:
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def balanced_accuracy(self) -> Array:
        return (self.recall + _ratio(self.tn, self.tn + self.fp)) / 2

    @property
    def key_accuracy(self) -> Array:
        return _ratio((self.tp + self.tn).sum(-1), (self.tp + self.fp + self.fn + self.tn).sum(-1))

    @property
    def active_accuracy(self) -> Array:
        return _ratio(self.tp.sum(-1), (self.tp + self.fn).sum(-1))


def count(recovered: Array, recorded: Array) -> Counts:
    """(N, K, A) each, compared after the threshold b(x) = 1(x > 0.5) -> per window (N, A)."""
    mine, true = recovered > 0.5, recorded > 0.5
    outcomes = (mine & true, mine & ~true, ~mine & true, ~mine & ~true)
    return Counts(*(outcome.sum(1).astype(np.float64) for outcome in outcomes))


def score(recovered: Array, recorded: Array, vocabulary: Vocabulary) -> Scores:
    """Recovered and recorded step vectors (N, K, A) of N windows -> all scores."""
    if recovered.shape != recorded.shape or recorded.shape[-1] != vocabulary.size:
        raise ValueError(f"recovered {recovered.shape} and recorded {recorded.shape} do not match")
    binary = vocabulary.binary
    outcomes = count(recovered[..., binary], recorded[..., binary])
    errors = np.abs(recovered - recorded).mean(1)[:, ~binary]
    return _scores(outcomes, errors, None, recorded.shape[0] * recorded.shape[1], vocabulary)


def balanced_difference(one: Array, other: Array, recorded: Array, vocabulary: Vocabulary) -> dict[str, Estimate]:
    """Balanced accuracy of `one` minus that of `other`, per control in use and of all; windows are resampled."""
    binary = vocabulary.binary
    counts = [count(found[..., binary], recorded[..., binary]) for found in (one, other)]
    stacked = np.stack([np.stack([each.tp, each.fp, each.fn, each.tn], 1) for each in counts], 1)
    mine, their = (Counts(*part).balanced_accuracy for part in stacked.sum(0))
    resampled = resampled_sums(stacked)
    apart = np.subtract(*(Counts(*resampled[:, i].swapaxes(0, 1)).balanced_accuracy for i in range(2)))
    used = np.flatnonzero(np.isfinite(mine))
    names = [control.name for control in vocabulary.controls if control.binary]
    found = {names[i]: estimate(float(mine[i] - their[i]), apart[:, i]) for i in used}
    return {"all": _mean((mine - their)[used], apart[:, used]), **found}


def score_grouped(recovered: Array, recorded: Array, vocabulary: Vocabulary, groups: NDArray[np.integer]) -> Scores:
    """Step vectors (N, A) of episodes of any length -> all scores; `groups` (N,) names each step's episode."""
    binary = vocabulary.binary
    steps = count(recovered[:, None, binary], recorded[:, None, binary])
    names, index = np.unique(groups, return_inverse=True)
    summed = [np.zeros((len(names), int(binary.sum()))) for _ in range(4)]
    for total, part in zip(summed, (steps.tp, steps.fp, steps.fn, steps.tn)):
        np.add.at(total, index, part)
    errors = np.abs(recovered - recorded)[:, ~binary]
    return _scores(Counts(*summed), errors, groups, len(recorded), vocabulary)


def _scores(outcomes: Counts, errors: Array, groups: Groups, steps: int, vocabulary: Vocabulary) -> Scores:
    """Counts (N, A) of what is resampled as a whole, and the errors of the continuous controls."""
    stacked = np.stack([outcomes.tp, outcomes.fp, outcomes.fn, outcomes.tn], 1)
    total, samples = Counts(*stacked.sum(0)), Counts(*resampled_sums(stacked).swapaxes(0, 1))
    used = (total.tp + total.fn > 0) & (total.tn + total.fp > 0)
    names = [control.name for control in vocabulary.controls if control.binary]
    cameras = [control.name for control in vocabulary.controls if not control.binary]
    return Scores(
        estimate(float(total.key_accuracy), samples.key_accuracy),
        estimate(float(total.active_accuracy), samples.active_accuracy),
        _mean(total.balanced_accuracy[used], samples.balanced_accuracy[:, used]),
        _mean(total.f1[used], samples.f1[:, used]),
        tuple(
            ControlScore(
                name,
                float(total.tp[i] + total.fn[i]) / steps,
                *(
                    estimate(getattr(total, metric)[i], getattr(samples, metric)[:, i])
                    for metric in ("precision", "recall", "f1", "balanced_accuracy")
                ),
            )
            for i, name in enumerate(names)
        ),
        {name: bootstrap(errors[:, i], groups) for i, name in enumerate(cameras)},
    )


def _mean(values: Array, samples: Array) -> Estimate:
    """Mean over controls; a resample without a control's presses counts the others."""
    if values.size == 0:
        return NOTHING
    defined = np.isfinite(samples)
    means = np.where(defined, samples, 0).sum(1) / np.maximum(defined.sum(1), 1)
    return estimate(float(values.mean()), means)


def _ratio(part: Array, whole: Array, undefined: float = np.nan) -> Array:
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return np.divide(part, whole, out=np.full(whole.shape, undefined), where=whole > 0)
