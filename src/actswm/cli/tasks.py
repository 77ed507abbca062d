"""`actswm tasks`: the planning tasks, and whether they are fit for use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..json_files import write_json
from .bars import bars
from .printing import text_console

if TYPE_CHECKING:
    from ..game import Game
    from ..task import Task

app = typer.Typer(help="Planning tasks in the games.\n\nExample: actswm tasks list", no_args_is_help=True)


@app.command("list")
def list_tasks() -> None:
    """Name every task, its budgets and chunk library.

    Example: actswm tasks list
    """
    from rich.table import Table

    from ..games.tasks import find_task, task_names

    table = Table("task", "chunk library", "replans", "chunks", "mask", "starts")
    for task in map(find_task, task_names()):
        budgets = (str(task.plan_budget), str(task.env_budget))
        table.add_row(task.name, task.library, *budgets, task.mask, str(len(task.starts)))
    text_console().print(table)


@app.command()
def check(
    family: str = typer.Argument(help="Tasks of this family, such as minetest, or one task (a name, or a file)."),
    json_file: Path = typer.Option(None, "--json", help="Also write the counts here."),
    workers: int = typer.Option(2, min=1, help="Engines that run side by side."),
) -> None:
    """Play every start as the scripted expert and with random chunks, and count who succeeds.

    A good task is solved by its expert (at least 19 of 20) and not by chance (at most 6 of 20).

    Example: actswm tasks check minetest --json tasks.json
    """
    from collections import Counter
    from dataclasses import asdict

    from rich.table import Table

    from ..games.registry import make_game
    from ..games.tasks import find_task, is_task, task_names
    from ..planning.task_check import PLAYERS, check_tasks

    def open_game(task: Task) -> Game:
        return make_game(task.game, **task.game_options)

    tasks = [find_task(family)] if is_task(family) else [find_task(name) for name in task_names(family)]
    played, episodes = Counter[str](), {task.name: len(PLAYERS) * len(task.starts) for task in tasks}
    with bars() as move:

        def show(name: str) -> None:
            played[name] += 1
            move(name, played[name], episodes[name])

        checks = check_tasks(tasks, open_game, workers, show)
    table = Table("task", "expert", "random", "expert's chunks", "fit")
    for result in checks:
        fit = result.expert >= 0.95 * result.starts and result.random <= 0.3 * result.starts
        counts = (f"{result.expert}/{result.starts}", f"{result.random}/{result.starts}")
        table.add_row(result.task, *counts, f"{result.expert_chunks:.1f}", "yes" if fit else "no")
    text_console().print(table)
    if json_file:
        found = {result.task.split("/", 1)[1]: asdict(result) for result in checks}
        write_json(json_file, {"tasks": found})
