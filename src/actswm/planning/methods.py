"""The compared methods: a world model that plans, and the baselines that do not.

A method makes a fresh agent for each episode; an agent chooses a chunk and plays it raw step by raw step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..game import Frame
from ..masks import apply_mask
from ..model.history import History, encode_frames
from .chunks import Library
from .phase import Phase
from .planner import Plan, Planner
from .references import Reference, goals_at
from .task import Expert, Info, PlanningTask, Start

RawAction = NDArray[np.float32]
BASELINES = ("random", "noop", "replay", "expert")


@dataclass(frozen=True)
class Decision:
    """What an agent does for the next chunk: its name, and, from planners, what comes after and at what cost."""

    name: str
    then: tuple[str, ...] = ()
    cost: float | None = None
    cpu_seconds: float = 0.0


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
    """Plays chunks (R, A) that a function names one at a time."""

    def __init__(self, choose: Callable[[], tuple[str, NDArray[np.float32]]]) -> None:
        self._choose = choose
        self._left: list[RawAction] = []

    def decide(self, frame: Frame, info: Info) -> Decision:
        name, raw = self._choose()
        self._left = list(raw)
        return Decision(name)

    def act(self, frame: Frame, info: Info) -> RawAction:
        return self._left.pop(0)


class ExpertAgent:
    def __init__(self, expert: Expert) -> None:
        self._expert = expert

    def decide(self, frame: Frame, info: Info) -> Decision:
        return Decision("expert")

    def act(self, frame: Frame, info: Info) -> RawAction:
        return self._expert.act(frame, info)


class PlanningAgent:
    """Model-predictive control: observe, plan, execute the first chunk, and plan again."""

    def __init__(self, planner: Planner, mask: str, reference: Reference) -> None:
        self._planner, self._mask = planner, mask
        self._latents = encode_frames(planner.model, apply_mask(mask, reference.frames))
        self._phase = Phase(self._latents, planner.settings.phase)
        self._history = History(planner.model)
        self._plan: Plan | None = None
        self._step = 0
        self._left: list[RawAction] = []

    def decide(self, frame: Frame, info: Info) -> Decision:
        self._history.observe(apply_mask(self._mask, frame))
        context = self._history.context()
        reached = self._phase.after(context.latents[0, -1])
        goals = goals_at(self._latents, reached, self._planner.settings.horizon)
        plan = self._planner.plan(context, goals, self._step, self._plan)
        self._history.act(plan.raw[0])
        self._plan, self._left = plan, list(plan.raw[0])
        self._step += 1
        return Decision(plan.names[0], plan.names[1:], plan.cost, plan.cpu_seconds)

    def act(self, frame: Frame, info: Info) -> RawAction:
        return self._left.pop(0)


def planning(name: str, planner: Planner, mask: str, identity: Mapping[str, Any]) -> Method:
    def make(episode: Episode) -> Agent:
        return PlanningAgent(planner, mask, episode.reference)

    return Method(name, make, identity, planner.settings.horizon)


def baseline(name: str, task: PlanningTask, library: Library, seed: int) -> Method:
    """`random` chunks by prior weight, `noop`, open-loop `replay` of the reference's actions, or the `expert`."""
    noop = np.zeros(library.steps.shape[1:], np.float32)

    def random(episode: Episode) -> Agent:
        rng = np.random.default_rng([seed, episode.number])

        def choose() -> tuple[str, NDArray[np.float32]]:
            chosen = int(rng.choice(len(library.names), p=library.weights))
            return library.names[chosen], library.steps[chosen]

        return ChunkAgent(choose)

    def replay(episode: Episode) -> Agent:
        chunks = iter(episode.reference.actions)
        return ChunkAgent(lambda: ("replay", next(chunks, noop)))

    makers: dict[str, Callable[[Episode], Agent]] = {
        "random": random,
        "noop": lambda episode: ChunkAgent(lambda: ("no-op", noop)),
        "replay": replay,
        "expert": lambda episode: ExpertAgent(task.expert(episode.start)),
    }
    if name not in makers:
        raise UserError(f"unknown baseline {name!r}; known: {', '.join(BASELINES)}")
    return Method(name, makers[name], {"seed": seed} if name == "random" else {})
