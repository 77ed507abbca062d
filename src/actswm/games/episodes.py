"""One recorded episode: a function of the plan and the episode's number, and of nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..chunks import RAW_STEPS, load_library
from ..chunks.policies import random_chunks, sticky_chunks
from ..errors import UserError
from ..game import POSE, Frame, Game, Info, Policy, Start, pose_of
from ..task import Task
from .behaviour import Noisy, make_behaviour, unknown_behaviour
from .registry import DEFAULT_SIZE, make_game
from .tasks import find_task, is_task

AFTERMATH = 20
"""Raw steps that are kept after a task's success: what it looks like belongs to the episode."""


@dataclass(frozen=True)
class RecordingPlan:
    """What is to be recorded. Equal plans give equal files."""

    game: str
    """A game, or a task."""
    seed: int = 0
    size: tuple[int, int] = DEFAULT_SIZE
    behaviour: str = "explorer"
    episode_steps: int = 800
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the game."""
    branches: int = 0
    """Siblings at each fork of an episode (see `forks`)."""
    looks: int = 1
    """Places of different looks in which every episode is played with the same keys (see `twins`)."""

    @property
    def task(self) -> Task | None:
        return find_task(self.game) if self.behaviour == "expert" or is_task(self.game) else None

    def open_game(self) -> Game:
        if self.task:
            return make_game(self.task.game, size=self.size, **{**self.task.game_options, **self.options})
        return make_game(self.game, size=self.size, **self.options)

    def episode_seed(self, index: int) -> int:
        """The `reset` seed of an episode."""
        return int(np.random.SeedSequence((self.seed, index)).generate_state(1)[0])


@dataclass(frozen=True)
class Episode:
    """Row t is the frame and pose before action t; as an empty one, the buffer of such rows."""

    seed: int
    pixels: NDArray[np.uint8]
    action: NDArray[np.float32]
    pose: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.action)

    @staticmethod
    def buffer(plan: RecordingPlan, game: Game) -> Episode:
        """Memory for the longest episode of a plan."""
        return Episode(
            seed=0,
            pixels=np.empty((plan.episode_steps, *plan.size, 3), np.uint8),
            action=np.empty((plan.episode_steps, game.vocabulary.size), np.float32),
            pose=np.empty((plan.episode_steps, len(POSE)), np.float32),
        )

    def first(self, rows: int) -> Episode:
        """The episode's first `rows` rows."""
        return Episode(self.seed, self.pixels[:rows], self.action[:rows], self.pose[:rows])


@dataclass(frozen=True)
class Scenario:
    """Who plays from where, and when that is over."""

    start: Start
    player: Policy
    finished: Callable[[Sequence[Info]], bool] = lambda infos: False


def scenario_of(game: Game, plan: RecordingPlan, seed: int, stream: tuple[int, ...] = (1,)) -> Scenario:
    """What the episode with `seed` plays; `stream` tells its draws from those of its siblings."""
    rng = np.random.default_rng((seed, *stream))
    task = plan.task
    if task is None:
        return Scenario({"seed": seed}, make_behaviour(plan.behaviour, game, rng))
    if task.draw_start is None:
        raise UserError(
            f"task {task.name} has no starts besides those it is judged on; record its game instead"
        )
    start = task.draw_start(seed)
    return Scenario(start, _task_player(task, start, plan.behaviour, rng), task.succeeded)


def _task_player(task: Task, start: Start, behaviour: str, rng: np.random.Generator) -> Policy:
    """Everybody acts in chunks of the task's library there."""
    library = load_library(task.library)
    if behaviour == "expert":
        return Noisy(task.expert(start), random_chunks(library, rng), RAW_STEPS, rng)
    players = {"random": random_chunks, "explorer": sticky_chunks}
    if behaviour not in players:
        raise unknown_behaviour(behaviour)
    return players[behaviour](library, rng)


def record_episode(
    game: Game,
    plan: RecordingPlan,
    index: int,
    buffer: Episode | None = None,
    wanted: Callable[[], bool] = lambda: True,
) -> Episode:
    """Play episode `index` of `plan`, up to `episode_steps` rows or the game's own end, into `buffer`.

    `wanted` is asked now and then; the episode ends early, and is of no use, when it says no.
    """
    buffer = buffer or Episode.buffer(plan, game)
    seed = plan.episode_seed(index)
    scenario = scenario_of(game, plan, seed)
    rows = play_on(game, scenario, game.reset(**scenario.start), buffer, 0, plan.episode_steps, wanted)
    return replace(buffer.first(rows), seed=seed)


def play_on(
    game: Game,
    scenario: Scenario,
    now: tuple[Frame, Info],
    buffer: Episode,
    rows: int,
    longest: int,
    wanted: Callable[[], bool],
) -> int:
    """Play from a frame and info on, into `buffer` from row `rows` on; returns the rows that are then filled."""
    frame, info = now
    infos = [info]
    last = longest
    while rows < last:
        if rows % 64 == 0 and not wanted():
            break
        action = scenario.player.act(frame, info)
        buffer.pixels[rows] = frame
        buffer.pose[rows] = pose_of(info["telemetry"])
        buffer.action[rows] = action
        frame, _, terminated, truncated, info = game.step(action)
        infos.append(info)
        rows += 1
        if terminated or truncated:
            break
        if last == longest and scenario.finished(infos):
            last = min(last, rows + AFTERMATH)
    return rows
