"""Recoverers that look at no picture: what any method must beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .prior import ActionPrior
from .windows import Truth


def blind_baselines(truth: Truth, prior: ActionPrior, seed: int = 42) -> dict[str, NDArray[np.float32]]:
    """Predictions (N, K, A) for the windows of `truth`.

    `always-on` has active accuracy 1. `pool-frequency` draws actions as often as the training data has them.
    `copy-last` holds the last action before the window: all that is known without a picture.
    """
    recorded = truth.actions
    drawn = np.random.default_rng(seed).integers(len(prior.pool), size=recorded.shape[:2])
    return {
        "always-off": np.zeros_like(recorded),
        "always-on": np.ones_like(recorded),
        "pool-frequency": prior.pool[drawn],
        "copy-last": np.broadcast_to(truth.before[:, None], recorded.shape).astype(np.float32),
    }
