"""Other things the player could have done: raw action sequences for true counterfactuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..controls import Vocabulary

KINDS = ("recorded", "zero", "shuffled", "shuffled", "edited", "edited", "random", "random")
"""What the eight futures of a window are, in order. Two of a kind are two draws."""
CAMERA_HOLD = 4
"""Raw steps for which a random player keeps the speed of a continuous control."""


@dataclass(frozen=True)
class Habits:
    """How the recorded player uses each control, (A,) each: the stickiness of a random one.

    Binary controls go down and up with these chances per raw step; continuous ones have a spread.
    """

    vocabulary: Vocabulary
    share: NDArray[np.float64]
    down: NDArray[np.float64]
    up: NDArray[np.float64]
    spread: NDArray[np.float64]

    @staticmethod
    def of(vocabulary: Vocabulary, actions: NDArray[np.floating]) -> Habits:
        pressed = actions > 0.5
        before, after = pressed[:-1], pressed[1:]
        return Habits(
            vocabulary,
            share=pressed.mean(0),
            down=(~before & after).sum(0) / np.maximum(1, (~before).sum(0)),
            up=(before & ~after).sum(0) / np.maximum(1, before.sum(0)),
            spread=actions.std(0),
        )

    def play(self, steps: int, rng: np.random.Generator) -> NDArray[np.float32]:
        """A random player with these habits, (steps, A); each control by its own clock."""
        size = self.vocabulary.size
        keys = np.empty((steps, size), bool)
        held = rng.random(size) < self.share
        for row, chance in zip(keys, rng.random((steps, size))):
            row[:] = held
            held = np.where(held, chance >= self.up, chance < self.down)
        holds = -(-steps // CAMERA_HOLD)
        camera = np.repeat(rng.normal(0, 1, (holds, size)) * self.spread, CAMERA_HOLD, 0)[:steps]
        return np.where(self.vocabulary.binary, keys, camera).astype(np.float32)


def draw_alternatives(
    recorded: NDArray[np.float32],
    others: Sequence[NDArray[np.float32]],
    controls: Sequence[str],
    habits: Habits,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Recorded raw actions (n, A) and two other windows' -> (8, n, A) in the order of `KINDS`."""
    chosen = rng.choice(np.array(controls), 2, replace=len(controls) < 2)
    edits = [edited(recorded, habits, str(name)) for name in chosen]
    plays = [habits.play(len(recorded), rng) for _ in range(2)]
    return np.stack([recorded, np.zeros_like(recorded), *others, *edits, *plays])


def edited(recorded: NDArray[np.float32], habits: Habits, control: str) -> NDArray[np.float32]:
    """One control released throughout if it was active at least half of the time, else held throughout."""
    index = habits.vocabulary.index(control)
    actions = recorded.copy()
    active = (recorded[:, index] != 0).mean() >= 0.5
    value = 1.0 if habits.vocabulary.binary[index] else habits.spread[index]
    actions[:, index] = 0.0 if active else value
    return actions
