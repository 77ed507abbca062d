"""Twins: the same keys from the same stand, in places of different looks.

With `looks=N` every episode of a task is followed by N - 1 twins. Where things are is the same in all of them, how
everything looks is not: what twins have in common is what a plan towards a reference from elsewhere has to go by.
Whoever does not know of twins sees ordinary episodes; the column `twin` tells the others (see `data/twins`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..game import Frame, Game, Info
from .episodes import Episode, RecordingPlan, Scenario, play_on, record_episode

APART = 0.01
"""Nodes and degrees that poses of twins may differ by: one that does not keep up ends there."""


@dataclass
class _Keys:
    """Plays recorded actions."""

    actions: NDArray[np.float32]
    played: int = 0

    def act(self, frame: Frame, info: Info) -> NDArray[np.float32]:
        self.played += 1
        return self.actions[self.played - 1]


class TwinRecorder:
    """Plays any episode of a plan's file; remembers the last one that it has played twins of."""

    def __init__(self, game: Game, plan: RecordingPlan) -> None:
        if plan.branches or plan.task is None or plan.task.redress is None:
            raise UserError(f"{plan.game}: looks need a task whose places can be redressed, and no branches")
        self._game, self._plan = game, plan
        self._draw, self._redress = plan.task.draw_start, plan.task.redress
        self._first: tuple[int, Episode] | None = None

    def record(self, index: int, buffer: Episode, wanted: Callable[[], bool]) -> Episode:
        """The file's episode `index`: a function of the plan and the number alone."""
        number, look = divmod(index, self._plan.looks)
        if look == 0 or self._first is None or self._first[0] != number:
            played = record_episode(self._game, self._plan, number, buffer, wanted)
            # what the twins need of it; `buffer` is theirs
            self._first = number, replace(played, action=played.action.copy(), pose=played.pose.copy())
            if look == 0 or not wanted():
                return played
        return self._twin(self._first[1], look, buffer, wanted)

    def _twin(self, first: Episode, look: int, buffer: Episode, wanted: Callable[[], bool]) -> Episode:
        assert self._draw is not None
        start = self._redress(self._draw(first.seed), look)
        scenario = Scenario(start, _Keys(first.action))
        rows = play_on(self._game, scenario, self._game.reset(**start), buffer, 0, len(first), wanted)
        apart = np.abs(buffer.pose[:rows] - first.pose[:rows]).max(1) > APART
        alike = int(apart.argmax()) if apart.any() else rows
        return replace(buffer.first(max(1, alike)), seed=first.seed)
