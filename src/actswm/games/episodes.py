"""One recorded episode: a function of the plan and the episode's number, and of nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..game import Game
from .behaviour import make_behaviour
from .registry import DEFAULT_SIZE, make_game

POSE = ("x", "y", "z", "yaw", "pitch")
"""The telemetry that is stored with each frame, as far as the game tells it (else NaN)."""
MAX_SEED = 2**32 - 1


@dataclass(frozen=True)
class RecordingPlan:
    """What is to be recorded. Equal plans give equal files."""

    game: str
    seed: int = 0
    size: tuple[int, int] = DEFAULT_SIZE
    behaviour: str = "explorer"
    episode_steps: int = 800
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the game."""

    def open_game(self) -> Game:
        return make_game(self.game, size=self.size, **self.options)

    def episode_seed(self, index: int) -> int:
        """The `reset` seed of an episode."""
        return int(np.random.SeedSequence((self.seed, index)).generate_state(1)[0])


@dataclass(frozen=True)
class Episode:
    """Row t is the frame and pose before action t."""

    seed: int
    pixels: NDArray[np.uint8]
    action: NDArray[np.float32]
    pose: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.action)

    def first(self, rows: int) -> Episode:
        """The episode's first `rows` rows."""
        return Episode(self.seed, self.pixels[:rows], self.action[:rows], self.pose[:rows])


def record_episode(
    game: Game, plan: RecordingPlan, index: int, wanted: Callable[[], bool] = lambda: True
) -> Episode:
    """Play episode `index` of `plan`, up to `episode_steps` rows or the game's own end.

    `wanted` is asked now and then; the episode ends early, and is of no use, when it says no.
    """
    seed = plan.episode_seed(index)
    behaviour = make_behaviour(plan.behaviour, game, np.random.default_rng((seed, 1)))
    height, width = plan.size
    pixels = np.empty((plan.episode_steps, height, width, 3), np.uint8)
    action = np.empty((plan.episode_steps, game.vocabulary.size), np.float32)
    pose = np.empty((plan.episode_steps, len(POSE)), np.float32)
    frame, info = game.reset(seed=seed)
    rows = 0
    while rows < plan.episode_steps:
        if rows % 64 == 0 and not wanted():
            break
        pixels[rows] = frame
        pose[rows] = [info["telemetry"].get(name, np.nan) for name in POSE]
        action[rows] = behaviour.act(frame, info)
        frame, _, terminated, truncated, info = game.step(action[rows])
        rows += 1
        if terminated or truncated:
            break
    return Episode(seed, pixels, action, pose).first(rows)
