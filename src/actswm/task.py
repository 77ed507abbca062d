"""What a planning task is: where it starts, what solves it, and a scripted expert that does.

A task is judged by the game's own events and telemetry, never by pixels. Its expert takes raw actions that the
task's chunk library can (nearly) express, so that a planner over those chunks is able to solve it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .controls import Vocabulary
from .game import Info, Policy, Start


@dataclass(frozen=True)
class Task:
    """A goal in a game, with the settings under which methods are compared on it."""

    name: str
    """`<family>/<task>`, as `find_task` knows it."""
    game: str
    """The game that plays it, as `make_game` knows it."""
    game_options: Mapping[str, Any]
    """Keyword arguments of `make_game`."""
    vocabulary: Vocabulary
    library: str
    """Name of the chunk library that planners and the random baseline choose from."""
    plan_budget: int
    """Replans allowed in an episode."""
    env_budget: int
    """Chunks executed in an episode; the first budget that is reached ends it."""
    mask: str
    """What is painted over in live and reference frames alike: `mining` (hand and hotbar) or `none`."""
    starts: tuple[Start, ...]
    """The 20 initial conditions that every method is judged on: `game.reset(**start)`."""
    reference_start: Start
    """Where the expert's reference run begins; none of `starts`."""
    succeeded: Callable[[Sequence[Info]], bool]
    """Given the infos of an episode (the reset's first, then one per raw step): is the goal reached?"""
    expert: Callable[[Start], Policy]
    """A fresh scripted solution of an episode that begins at the start. It may look at the telemetry, which a
    planner never sees."""
    own_references: bool = False
    """Does each start have its own reference run, the expert's from that start, instead of one for all?"""
    draw_start: Callable[[int], Start] | None = None
    """Further starts of the same kind, by seed: for recording the expert, not for judging."""
    redress: Callable[[Start, int], Start] | None = None
    """A start in a place of another look, by number: the same keys lead to the same moments there."""

    def __post_init__(self) -> None:
        if self.reference_start in self.starts:
            raise ValueError(f"task {self.name!r}: the reference start is one of the evaluated starts")
