"""True counterfactuals: the futures of several action sequences from one and the same state of a game.

A deterministic game needs no saved states: the state is the seed and the actions so far, and is reached again by
replaying them. Where the game can run without drawing (`fast_forward`), the replay does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..branches import Branches, BranchPoint, Future
from ..errors import UserError
from ..game import POSE, Game, Step, pose_of
from ..processes import die_with_parent, starting_workers
from .registry import DEFAULT_SIZE, make_game
from .repeatable import require_repeatable


@runtime_checkable
class FastForward(Protocol):
    """A game that can take many raw steps and draw only the last."""

    def fast_forward(self, actions: NDArray[np.floating]) -> Step:
        """As one `step` per action (at least one), up to the episode's end; returns the last one's."""
        ...


def branch(
    game: Game,
    seed: int,
    prefix: NDArray[np.floating],
    alternatives: NDArray[np.floating] | Sequence[NDArray[np.floating]],
    *,
    every: int = 1,
) -> Branches:
    """Render the true future of each alternative after `prefix` from `reset(seed)`.

    The alternative that was recorded gives the recorded frames bit for bit.
    """
    if not game.deterministic:
        raise UserError(f"{game.name} is not deterministic, so it cannot branch; use a freedoom world")
    if every < 1 or any(len(actions) % every for actions in alternatives):
        raise UserError(f"alternatives must be a multiple of every={every} raw steps long")
    if not len(alternatives):
        raise UserError("branch needs at least one alternative")
    futures = []
    for actions in alternatives:
        start, _ = game.reset(seed=seed)
        if len(prefix):
            start, _, terminated, truncated, _ = fast_forward(game, prefix)
            if terminated or truncated:
                raise UserError(f"{game.name}, seed {seed}: the episode ends inside the prefix")
        futures.append(_future(game, start.shape, actions, every))
    return Branches(start, tuple(futures))


def branch_all(
    name: str,
    points: Iterable[BranchPoint],
    *,
    size: tuple[int, int] = DEFAULT_SIZE,
    workers: int = 1,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[Branches]:
    """`branch` at many points of the game `name`, in order, with `workers` engines side by side.

    The engines end when the caller stops listening, and also when it is killed.
    """
    # a pool's workers would wait for work for ever; the engine's guard cleans up after them
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=die_with_parent) as pool:
        with starting_workers():
            results = pool.map(partial(_branch_at, name, size, dict(options)), points)
        try:
            yield from results
        except BrokenProcessPool:
            raise UserError(
                f"a worker process of {name} was killed (out of memory?); run again with fewer --workers"
            ) from None


_game: Game | None = None
"""In a worker process of `branch_all`: its game. The engine ends with the process."""


def _branch_at(name: str, size: tuple[int, int], options: dict[str, Any], point: BranchPoint) -> Branches:
    """The game is opened with a worker's first task, so that what is wrong with it is told as that task's error."""
    global _game
    if _game is None:
        try:
            _game = make_game(name, size=size, **options)
            require_repeatable(_game)
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            raise UserError(f"{name}: cannot be opened with the options {options} ({error})") from None
    return branch(_game, point.seed, point.prefix, point.alternatives, every=point.every)


def _future(game: Game, shape: tuple[int, ...], actions: NDArray[np.floating], every: int) -> Future:
    frames, poses = [], []
    for first in range(0, len(actions), every):
        frame, _, terminated, truncated, info = fast_forward(game, actions[first : first + every])
        if terminated or truncated:
            break
        frames.append(frame)
        poses.append(pose_of(info["telemetry"]))
    return Future(np.array(frames, np.uint8).reshape(-1, *shape), np.array(poses, np.float32).reshape(-1, len(POSE)))


def fast_forward(game: Game, actions: NDArray[np.floating]) -> Step:
    """Take raw steps (at least one) up to the episode's end, drawing only the last where the game can."""
    if isinstance(game, FastForward):
        return game.fast_forward(actions)
    for action in actions:
        step = game.step(action)
        if step[2] or step[3]:
            break
    return step
