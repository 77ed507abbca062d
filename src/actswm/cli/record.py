"""`actswm record`: play a game and keep what happened as a dataset file."""

from __future__ import annotations

from pathlib import Path

import typer

from .arguments import file_to_write
from .printing import say, text_console


def record(
    game: str = typer.Argument(
        help="family/world, such as freedoom/maze, or a task (see `actswm tasks list`)."
    ),
    out: Path = typer.Option(
        ..., "--out", "-o", help="Dataset file (.h5); an unfinished one is continued.", callback=file_to_write
    ),
    steps: int = typer.Option(10_000, min=1, help="Raw steps (frames) in the file at the end."),
    workers: int = typer.Option(1, min=1, help="Processes that play at the same time."),
    seed: int = typer.Option(0, min=0, help="Seed of the whole recording."),
    size: int = typer.Option(128, min=1, help="Height and width of the frames in pixels."),
    episode_steps: int = typer.Option(800, min=1, help="Longest episode in raw steps."),
    behaviour: str = typer.Option(
        "explorer", help="Who plays: explorer, random, or, in a task, expert (with noise)."
    ),
    controls: str = typer.Option(
        "", help="Only these controls do anything, e.g. W,Turn_L,Turn_R (default: the world's own)."
    ),
    branches: int = typer.Option(
        0, min=0, help="At every 64th step, also record so many other futures of 8 model steps (siblings)."
    ),
    owamcap: Path = typer.Option(None, help="Folder that gets every episode as OWAMcap (MCAP + MKV), too."),
) -> None:
    """Record a game with scripted players; the result depends on the arguments, not on the number of workers.

    Ctrl+C, or a kill, leaves a valid file with the finished episodes; the same command goes on from there.

    Example: actswm record freedoom/maze --steps 50000 --workers 2 --out maze.h5
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from ..games.episodes import RecordingPlan
    from ..games.recording import record as run

    options = {"controls": controls.replace(" ", "").split(",")} if controls else {}
    plan = RecordingPlan(game, seed, (size, size), behaviour, episode_steps, options, branches)
    console = text_console(stderr=True)
    columns = (
        TextColumn("{task.description}", style="bold", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=console)
    task = bar.add_task(game, total=steps, rate="")

    def show(frames: int) -> None:
        bar.start()  # not before the first report, so that bad arguments show one line and no bar
        speed = bar.tasks[task].speed
        bar.update(task, completed=frames, rate=f"{speed:,.0f} frames/s" if speed else "")

    try:
        recording = run(plan, steps, out, workers=workers, owamcap=owamcap, progress=show)
    finally:
        bar.stop()
    say(
        f"{recording.path}: {recording.frames:,} frames in {recording.episodes:,} episodes "
        f"({recording.new_frames:,} new)"
    )
