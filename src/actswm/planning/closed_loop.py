"""The closed loop: an agent plays one episode of a task, chunk by chunk, until success or the end of its budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..game import Frame, Game, Start
from ..task import Task
from .agents import Agent, Decision

Watcher = Callable[[int, Frame, Decision], None]
"""Told after every raw step: the number of the step, the frame after it, and the decision it belongs to."""


@dataclass(frozen=True)
class Outcome:
    """`chunks` were executed, the last one perhaps in part; each took one decision."""

    succeeded: bool
    chunks: int
    raw_steps: int
    decisions: tuple[Decision, ...]


def run_episode(
    game: Game, task: Task, start: Start, agent: Agent, raw_steps: int, watch: Watcher
) -> Outcome:
    """Decide, execute one chunk of `raw_steps`, decide again.

    Every chunk is one replan, so the smaller of the two budgets ends the episode, for every method alike.
    """
    frame, info = game.reset(**start)
    infos, decisions = [info], []
    for _ in range(min(task.plan_budget, task.env_budget)):
        decisions.append(agent.decide(frame, info))
        for _ in range(raw_steps):
            frame, _, ended, truncated, info = game.step(agent.act(frame, info))
            infos.append(info)
            watch(len(infos) - 1, frame, decisions[-1])
            done = task.succeeded(infos)
            if done or ended or truncated:
                return Outcome(done, len(decisions), len(infos) - 1, tuple(decisions))
    return Outcome(False, len(decisions), len(infos) - 1, tuple(decisions))
