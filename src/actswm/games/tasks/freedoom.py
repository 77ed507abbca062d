"""Freedoom `follow`: end within a distance and heading of where a reference run ended.

Each start has its own reference run, which begins at the same place; the planner sees its frames.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...controls import KEYS14
from ...game import Frame, Info, Policy, Start
from ...task import Task
from .reference_runs import LIBRARY, draw_script, load_runs, pose_of, script_actions

NEAR = 48.0
"""Map units between the player and the reference's end; a run covers 60 in a chunk."""
FACING = 25.0
"""Degrees between the two headings."""
BUDGET = 20
"""Chunks; the longest reference has 17."""


def make_task(task: str) -> Task:
    world = task.removeprefix("follow-")
    outside, *runs = load_runs(world)
    ends = {run.seed: run.end for run in (outside, *runs)}

    def succeeded(infos: Sequence[Info]) -> bool:
        end = ends.get(infos[0]["seed"])
        here = pose_of(infos[-1]["telemetry"])
        return end is not None and here.distance(end) <= NEAR and here.turn(end) <= FACING

    def expert(start: Start) -> Policy:
        return Replay(draw_script(start["seed"]))

    return Task(
        name=f"freedoom/{task}",
        game=f"freedoom/{world}",
        game_options={},
        vocabulary=KEYS14,
        library=LIBRARY,
        plan_budget=BUDGET,
        env_budget=BUDGET,
        mask="none",
        starts=tuple({"seed": run.seed} for run in runs),
        reference_start={"seed": outside.seed},
        succeeded=succeeded,
        expert=expert,
        own_references=True,
    )


class Replay:
    """Takes a script's actions, then none."""

    def __init__(self, chunks: Sequence[str]) -> None:
        self._actions = iter(script_actions(chunks))

    def act(self, frame: Frame, info: Info) -> NDArray[np.float32]:
        return next(self._actions, KEYS14.noop())
