"""What planning needs of a task; `actswm.games.tasks.Task` is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..game import Frame

Start = Mapping[str, Any]
"""One initial condition: the arguments of the game's `reset`."""
Info = Mapping[str, Any]


class Expert(Protocol):
    def act(self, frame: Frame, info: Info) -> NDArray[np.float32]: ...


class PlanningTask(Protocol):
    """A goal in a game with its budgets, starts, judge and expert."""

    @property
    def name(self) -> str: ...
    @property
    def plan_budget(self) -> int: ...
    @property
    def env_budget(self) -> int: ...
    @property
    def mask(self) -> str: ...
    @property
    def starts(self) -> tuple[Start, ...]: ...
    @property
    def reference_start(self) -> Start: ...
    @property
    def own_references(self) -> bool: ...
    @property
    def succeeded(self) -> Callable[[Sequence[Info]], bool]: ...
    @property
    def expert(self) -> Callable[[Start], Expert]: ...
