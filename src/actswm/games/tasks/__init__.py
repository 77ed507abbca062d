"""Planning tasks by name; a family's module is imported when one of its tasks is asked for."""

from __future__ import annotations

from importlib import import_module

from ...errors import UserError
from .task import Expert, Info, Start, Task

__all__ = ["Expert", "Info", "Start", "Task", "find_task", "task_names"]

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


def find_task(name: str) -> Task:
    """The task called `name`, for example `minetest/mine-stone`."""
    if name not in task_names():
        raise UserError(f"unknown task {name!r}; known: {', '.join(task_names())}")
    family, task = name.split("/", 1)
    made: Task = import_module(f".{family}", __package__).make_task(task)
    return made
