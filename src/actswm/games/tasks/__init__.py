"""Planning tasks by name, or from other people's files (see `own`).

A family's module is imported when one of its tasks is asked for.
"""

from __future__ import annotations

from importlib import import_module

from ...errors import UserError
from ...task import Task
from .own import is_own_task, own_task

FAMILIES = {
    "freedoom": ("follow-room", "follow-maze"),
    "minetest": ("mine-stone", "place-torch", "build-pillar"),
    "minecraft": ("mine-stone", "place-torch", "build-pillar"),
}
"""Per family its tasks; module `actswm.games.tasks.<family>` has `make_task(task)`."""


def task_names(family: str | None = None) -> tuple[str, ...]:
    """Names of all tasks, or of one family's."""
    if family is not None and family not in FAMILIES:
        raise UserError(f"unknown task family {family!r}; known: {', '.join(FAMILIES)}")
    return tuple(
        f"{group}/{task}" for group, tasks in FAMILIES.items() for task in tasks if family in (None, group)
    )


def is_task(name: str) -> bool:
    """Is it a task, and not a game?"""
    return name in task_names() or is_own_task(name)


def find_task(name: str) -> Task:
    """The task called `name`, for example `minetest/mine-stone`; or another's: `task.yaml`, `my_module:TASK`."""
    if name not in task_names():
        if ":" in name or name.endswith((".yaml", ".yml")):
            return own_task(name)
        raise UserError(f"unknown task {name!r}; known: {', '.join(task_names())}, or a file (task.yaml)")
    family, task = name.split("/", 1)
    made: Task = import_module(f".{family}", __package__).make_task(task)
    return made
