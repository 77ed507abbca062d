"""`actswm record`: play a game and keep what happened as a dataset file."""

from __future__ import annotations

from pathlib import Path

import typer

from .arguments import COMPRESSION, EXECUTOR, Compression, Executor, file_to_write, packing
from .bars import bars
from .printing import say


def record(
    game: str = typer.Argument(
        help="family/world, such as freedoom/maze; a task (see `actswm tasks list`); or your own game: "
        "my_module:MyGame, file.py:MyGame, gym:CartPole-v1."
    ),
    out: Path = typer.Option(
        ..., "--out", "-o", help="Dataset file (.h5); an unfinished one is continued.", callback=file_to_write
    ),
    steps: int = typer.Option(10_000, min=1, help="Raw steps (frames) in the file at the end."),
    workers: int = typer.Option(1, min=1, help="Processes that play at the same time."),
    executor: Executor = EXECUTOR,
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
    looks: int = typer.Option(
        1, min=1, help="Of a task: play every episode's keys again in so many places of different looks, in all."
    ),
    compression: Compression = COMPRESSION,
    owamcap: Path = typer.Option(None, help="Folder that gets every episode as OWAMcap (MCAP + MKV), too."),
) -> None:
    """Record a game with scripted players; the result depends on the arguments, not on the number of workers.

    Ctrl+C, or a kill, leaves a valid file with the finished episodes; the same command goes on from there.

    Example: actswm record freedoom/maze --steps 50000 --workers 2 --out maze.h5
    """
    from ..games.episodes import RecordingPlan
    from ..games.recording import record as run

    options = {"controls": controls.replace(" ", "").split(",")} if controls else {}
    plan = RecordingPlan(game, seed, (size, size), behaviour, episode_steps, options, branches, looks)
    with bars(rate="frames") as move:
        recording = run(
            plan, steps, out, workers=workers, executor=executor, owamcap=owamcap,
            compression=packing(compression),
            progress=lambda frames: move(game, frames, steps),
        )  # fmt: skip
    say(
        f"{recording.path}: {recording.frames:,} frames in {recording.episodes:,} episodes "
        f"({recording.new_frames:,} new)"
    )
