"""Step drift as a probe of training: a few validation windows, every time the run validates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..data import sample_windows
from ..model import WorldModel
from .drift import step_drift


def drift_probe(
    path: Path, context: int, horizon: int, frameskip: int, windows: int = 128
) -> Callable[[WorldModel], dict[str, float]]:
    """Measures a model in evaluation mode at step `horizon`, its last training step.

    `drift_gap` is the paper's (against zero), `shuffled_gap` that against other windows' actions, and
    `above_copy` what the prediction has over the last context latent.
    """
    sample = sample_windows(
        path, windows, split="validation", context=context, horizon=horizon, frameskip=frameskip
    )

    def probe(model: WorldModel) -> dict[str, float]:
        drift = step_drift(model, sample)
        return {
            "drift_gap": float(drift.gap("zero")[:, -1].mean()),
            "shuffled_gap": float(drift.gap("shuffled")[:, -1].mean()),
            "above_copy": float(drift.gap("copy")[:, -1].mean()),
        }

    return probe
