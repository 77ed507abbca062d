"""How good the labels of an inverse-dynamics model are in whole episodes, and whether its probabilities hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..results import Scores
from .calibration import Reliability, reliability
from .metrics import score_grouped
from .motion_idm import MotionIdm

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Answered:
    """Answers and recorded actions (N, 2, A) of raw steps, and the episode of each (N,)."""

    answers: Array
    recorded: Array
    episode: NDArray[np.integer]

    def of(self, rows: NDArray[np.bool_]) -> Answered:
        return Answered(self.answers[rows], self.recorded[rows], self.episode[rows])


def scores_of(model: MotionIdm, answered: Answered, kind: int) -> Scores:
    """Labels of raw or model steps against what was recorded; intervals are over episodes."""
    known = np.isfinite(answered.recorded[:, kind]).all(1)
    labels = model.decided(answered.answers[known, kind], kind)
    recorded = answered.recorded[known, kind]
    return score_grouped(labels, recorded, model.encoding.vocabulary, answered.episode[known])


def reliabilities(model: MotionIdm, answered: Answered, kind: int) -> tuple[Reliability, ...]:
    """Of every control in use."""
    known = np.isfinite(answered.recorded[:, kind]).all(1)
    pressed = answered.recorded[known, kind] > 0.5
    names = model.encoding.vocabulary.names
    return tuple(
        reliability(names[i], answered.answers[known, kind, i], pressed[:, i])
        for i in np.flatnonzero(model.in_use.numpy())
        if pressed[:, i].any()
    )


def separation(own: Array, other: Array) -> float:
    """AUROC: how often a stretch of another video has a higher score than one of the model's own game."""
    scores = np.concatenate([own, other])
    order = scores.argsort(kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    _, group, size = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.bincount(group, ranks) / size)[group]
    above = ranks[len(own) :].sum() - len(other) * (len(other) + 1) / 2
    return float(above / (len(own) * len(other)))
