"""Model-predictive control: the planning method's whole loop, and the agent that plays by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from ..game import Frame
from ..masks import apply_mask
from ..model.history import encode_frames, observed
from .agents import Agent, Choice, ChunkAgent, Decision, Episode, Method
from .phase import Phase
from .planner import Planner
from .references import Reference, goals_at


def follow(planner: Planner, mask: str, reference: Reference, frames: Iterator[Frame]) -> Iterator[Choice]:
    """Model-predictive control: see, plan towards the reference's next frames, execute the first chunk, and again."""
    model, horizon = planner.model, planner.settings.horizon
    latents = encode_frames(model, apply_mask(mask, reference.frames))
    phase = Phase(latents, planner.settings.phase)
    own = planner.space.plan(reference.actions) if planner.settings.begin == "reference" else None
    context, executed, plan = None, None, None
    for step, frame in enumerate(frames):
        context = observed(model, context, executed, apply_mask(mask, frame))
        place = phase.after(context.latents[0, -1])
        keys = None if own is None else own[[min(place + ahead, len(own) - 1) for ahead in range(horizon)]]
        plan = planner.plan(context, goals_at(latents, place, horizon), step, plan, keys)
        executed = plan.raw[0]
        yield Decision(plan.names[0], plan.names[1:], plan.cost, plan.cpu_seconds), executed


def planning(name: str, planner: Planner, mask: str, identity: Mapping[str, Any]) -> Method:
    def make(episode: Episode) -> Agent:
        seen: list[Frame] = []
        choices = follow(planner, mask, episode.reference, (seen.pop() for _ in count()))

        def choose(frame: Frame) -> Choice:
            seen.append(frame)
            return next(choices)

        return ChunkAgent(choose)

    return Method(name, make, identity, planner.settings.horizon)
