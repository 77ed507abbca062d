"""Which seed an episode gets."""

from __future__ import annotations

import numpy as np

from ..errors import UserError

MAX_SEED = 2**32 - 1


class EpisodeSeeds:
    """The seed asked for; else the game's first one, once; else the next of the game's own stream."""

    def __init__(self, first: int | None) -> None:
        self._first = first

    def choose(self, asked: int | None, rng: np.random.Generator) -> int:
        if asked is None:
            asked, self._first = self._first, None
        if asked is None:
            return int(rng.integers(MAX_SEED + 1))
        if not 0 <= asked <= MAX_SEED:
            raise UserError(f"seed {asked} is out of range; use 0 to {MAX_SEED}")
        return int(asked)
