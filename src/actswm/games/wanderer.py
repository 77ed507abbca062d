"""Plays a game of which nothing is known but its controls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..game import Frame, Game

HOLD = 8.0
"""Mean raw steps for which the explorer keeps what it has drawn."""
PRESSED = 0.25
"""Share of the time that a button is down."""
RESTS = 0.3
"""Share of the time that a continuous control is at rest."""


class Wanderer:
    """Holds what it draws: each control by its own clock, or whole actions where the game draws them itself.

    `sticky` draws for how long as well, `hold` steps on average; else it is always `hold`.
    """

    def __init__(self, rng: np.random.Generator, game: Game, hold: float = HOLD, sticky: bool = True) -> None:
        self._rng, self._hold, self._sticky = rng, hold, sticky
        self._binary, self._effective = game.vocabulary.binary, game.effective
        self._spread = np.asarray(game.spread)  # type: ignore[attr-defined]
        self._whole = getattr(game, "random_action", None)
        clocks = 1 if self._whole or not sticky else game.vocabulary.size
        self._left = np.zeros(clocks, int)
        self._action = game.vocabulary.noop()

    def act(self, frame: Frame, info: Mapping[str, Any]) -> NDArray[np.float32]:
        due = self._left == 0
        if due.any():
            self._action = np.where(due, self._drawn(), self._action).astype(np.float32)
            lengths = self._rng.geometric(1 / self._hold, len(due)) if self._sticky else int(self._hold)
            self._left = np.where(due, lengths, self._left)
        self._left = self._left - 1
        return self._action.copy()

    def _drawn(self) -> NDArray[np.floating]:
        if self._whole:
            return np.asarray(self._whole(self._rng), np.float32) * self._effective
        size = len(self._binary)
        pressed = self._rng.random(size) < PRESSED
        moved = self._rng.normal(0, self._spread) * (self._rng.random(size) >= RESTS)
        return np.where(self._binary, pressed, moved) * self._effective
