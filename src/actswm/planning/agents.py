"""Who plays an episode: what every method has in common, and the baselines, which need no world model.

A method makes a fresh agent for each episode; an agent chooses a chunk and plays it raw step by raw step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..chunks import ChunkLibrary
from ..errors import UserError
from ..game import Frame, Info, Policy, RawAction, Start
from ..task import Task
from .references import Reference

BASELINES = ("random", "noop", "replay", "expert")


@dataclass(frozen=True)
class Decision:
    """What an agent does for the next chunk: its name, and, from planners, what comes after and at what cost."""

    name: str
    then: tuple[str, ...] = ()
    cost: float | None = None
    cpu_seconds: float = 0.0


Choice = tuple[Decision, NDArray[np.float32]]
"""A decision, and the raw actions (R, A) of its chunk."""


class Agent(Protocol):
    """One episode's player."""

    def decide(self, frame: Frame, info: Info) -> Decision:
        """Before each chunk."""
        ...

    def act(self, frame: Frame, info: Info) -> RawAction:
        """For each raw step of the chunk."""
        ...


@dataclass(frozen=True)
class Episode:
    """What an agent is made for."""

    number: int
    start: Start
    reference: Reference


@dataclass(frozen=True)
class Method:
    """`identity` is what its results depend on besides the task: settings, weights."""

    name: str
    make: Callable[[Episode], Agent]
    identity: Mapping[str, Any] = field(default_factory=dict)
    horizon: int = 0
    """Steps that a reference must have."""


class ChunkAgent:
    """Plays chunks (R, A): each frame before one is answered by a decision and its raw actions."""

    def __init__(self, choose: Callable[[Frame], Choice]) -> None:
        self._choose = choose
        self._left: list[RawAction] = []

    def decide(self, frame: Frame, info: Info) -> Decision:
        decision, raw = self._choose(frame)
        self._left = list(raw)
        return decision

    def act(self, frame: Frame, info: Info) -> RawAction:
        return self._left.pop(0)


class ExpertAgent:
    def __init__(self, expert: Policy) -> None:
        self._expert = expert

    def decide(self, frame: Frame, info: Info) -> Decision:
        return Decision("expert")

    def act(self, frame: Frame, info: Info) -> RawAction:
        return self._expert.act(frame, info)


def baseline(name: str, task: Task, library: ChunkLibrary, seed: int) -> Method:
    """`random` chunks by prior weight, `noop`, open-loop `replay` of the reference's actions, or the `expert`."""
    noop = np.zeros(library.steps.shape[1:], np.float32)

    def random(episode: Episode) -> Agent:
        rng = np.random.default_rng([seed, episode.number])

        def choose(frame: Frame) -> Choice:
            chunk = library.draw(rng)
            return Decision(chunk.name), chunk.steps

        return ChunkAgent(choose)

    def replay(episode: Episode) -> Agent:
        chunks = iter(episode.reference.actions)
        return ChunkAgent(lambda frame: (Decision("replay"), next(chunks, noop)))

    makers: dict[str, Callable[[Episode], Agent]] = {
        "random": random,
        "noop": lambda episode: ChunkAgent(lambda frame: (Decision("no-op"), noop)),
        "replay": replay,
        "expert": lambda episode: ExpertAgent(task.expert(episode.start)),
    }
    if name not in makers:
        raise UserError(f"unknown baseline {name!r}; known: {', '.join(BASELINES)}")
    return Method(name, makers[name], {"seed": seed} if name == "random" else {})
