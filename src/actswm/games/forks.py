"""Siblings: what else could have happened at some moments of an episode, recorded as episodes of their own.

With `branches=N` every episode is followed by its siblings: at each fork, N players set out from the state that the
episode had there. A sibling first repeats the episode's last CONTEXT rows before the fork, then goes its own way.
Whoever does not know of siblings sees ordinary, short episodes; the column `repeats` tells the others (see
`data/siblings`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..game import Game
from .branching import fast_forward
from .episodes import Episode, RecordingPlan, play_on, record_episode, scenario_of
from .repeatable import require_repeatable

CONTEXT = 28
"""Raw steps that a sibling repeats: seven model steps of four."""
FUTURE = 33
"""Rows from the fork on: eight model steps, and the frame after them."""
EVERY = 64
"""Raw steps between the forks of an episode."""


@dataclass(frozen=True)
class Fork:
    """The `sibling`-th way to go on at the `number`-th fork of an episode."""

    number: int
    sibling: int


def family_size(plan: RecordingPlan) -> int:
    """An episode and all its siblings."""
    return 1 + plan.branches * len(range(CONTEXT, max(plan.episode_steps, CONTEXT + 1), EVERY))


def place_in_family(plan: RecordingPlan, index: int) -> tuple[int, Fork | None]:
    """The played episode that the file's episode `index` belongs to, and as which sibling (None: it is that one)."""
    episode, rest = divmod(index, family_size(plan))
    return episode, Fork(*divmod(rest - 1, plan.branches)) if rest else None


def fork_row(fork: Fork, length: int, seed: int) -> int:
    """The row at which the siblings leave an episode of `length` rows; drawn where it ended before the fork."""
    row = CONTEXT + fork.number * EVERY
    if row < length:
        return row
    return int(np.random.default_rng((seed, 3, fork.number)).integers(min(1, length - 1), length))


def repeats(row: int, rows: int, distance: int) -> NDArray[np.int64]:
    """The column of a sibling of `rows` rows that forks at `row`; `distance`: its first row minus the episode's."""
    context = min(CONTEXT, row)
    shared = np.arange(rows) <= context
    return np.where(shared, distance - (row - context), 0)


class FamilyRecorder:
    """Plays any episode of a plan's file; remembers the last one that it has played siblings of."""

    def __init__(self, game: Game, plan: RecordingPlan) -> None:
        if plan.branches and (plan.task or not game.deterministic):
            raise UserError(f"{plan.game}: branches need a game whose states can be reached again, and no task")
        if plan.branches:
            require_repeatable(game)
        self._game, self._plan = game, plan
        self._parent: tuple[int, Episode] | None = None

    def record(self, index: int, buffer: Episode, wanted: Callable[[], bool]) -> Episode:
        """The file's episode `index`: a function of the plan and the number alone."""
        number, fork = place_in_family(self._plan, index)
        if fork is None:
            return record_episode(self._game, self._plan, number, buffer, wanted)
        if self._parent is None or self._parent[0] != number:
            played = record_episode(self._game, self._plan, number, None, wanted)
            if not wanted():
                return played
            self._parent = number, played
        return self._sibling(self._parent[1], fork, buffer, wanted)

    def _sibling(self, parent: Episode, fork: Fork, buffer: Episode, wanted: Callable[[], bool]) -> Episode:
        row = fork_row(fork, len(parent), parent.seed)
        context = min(CONTEXT, row)
        for column in ("pixels", "action", "pose"):
            getattr(buffer, column)[:context] = getattr(parent, column)[row - context : row]
        scenario = scenario_of(self._game, self._plan, parent.seed, (2, fork.number, fork.sibling))
        frame, info = self._game.reset(**scenario.start)
        if row:
            frame, _, _, _, info = fast_forward(self._game, parent.action[:row])
        if not np.array_equal(frame, parent.pixels[row]):
            raise UserError(
                f"{self._plan.game}, seed {parent.seed}: after the same {row} actions it looks different; "
                "it is not deterministic, so record it without --branches"
            )
        last = min(context + FUTURE, len(buffer.action))
        rows = play_on(self._game, scenario, (frame, info), buffer, context, last, wanted)
        return replace(buffer.first(rows), seed=parent.seed)
