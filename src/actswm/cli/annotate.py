"""`actswm annotate`: videos become a dataset file with recovered actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import typer

from .arguments import DEVICE, EXECUTOR, MODEL, Executor, file_to_write
from .printing import say
from .recover import CANDIDATES, CLIP, ELITES, ITERATIONS, METHOD, WINDOW, Search


def annotate(
    checkpoint: Path = MODEL,
    videos: list[Path] = typer.Argument(help="Video files of any kind that PyAV opens, or the folder of a harvest."),
    out: Path = typer.Option(
        ..., "--out", "-o", help="Dataset file (.h5); an unfinished one is continued.", callback=file_to_write
    ),
    actions: Path = typer.Option(
        None, help="Dataset file whose training actions guide the search (best: the model's own data)."
    ),
    target: Literal["joint", "every-step"] = typer.Option("joint", help="Some steps at once, or one by one."),
    method: Search = METHOD,
    joint_window: int = WINDOW,
    fps: float = typer.Option(
        None, min=0.1, help="Raw steps a second (default: the first video's frames); videos are resampled."
    ),
    candidates: int = CANDIDATES,
    elites: int = ELITES,
    iterations: int = ITERATIONS,
    clip: bool = CLIP,
    seed: int = typer.Option(42, help="Seed of the search."),
    owamcap: Path = typer.Option(None, help="Folder that gets each video as OWAMcap (MCAP + MKV), too."),
    device: str = DEVICE,
    workers: int = typer.Option(1, min=1, help="Videos that are worked on at the same time."),
    executor: Executor = EXECUTOR,
) -> None:
    """Label videos that have no actions with those that a world model finds in them.

    The labels are the model's: they mean what its vocabulary means in the game it was trained on. Each video is one
    episode. Nothing in the file says how sure a label is: check some against recorded actions (actswm recover).
    The same command again does only what is missing. Exit code 1: some videos could not be read.

    Example: actswm annotate runs/room/model clips/*.mp4 --actions room.h5 --out clips.h5
    """
    from ..curation.harvest.clips import read_clips
    from ..recovery.annotation import AnnotationJob, annotation_rate
    from ..recovery.annotation import annotate as run
    from ..recovery.protocol import RecoveryOptions
    from ..recovery.search import SearchSettings
    from ..saved_models import locate
    from .bars import bars
    from .trained_on import warn_of_other_frames

    options = RecoveryOptions(
        SearchSettings(candidates, elites, iterations, clip=clip),
        method,
        target,
        joint_window,
        seed=seed,
    )
    job = AnnotationJob(
        locate(checkpoint).resolve(),
        options,
        actions.resolve() if actions else None,
        owamcap.resolve() if owamcap else None,
        threads=1 if workers > 1 or executor == "ray" else None,
        device=device,
    )
    provenance: dict[Path, dict[str, Any]] = {}
    for folder in [path for path in videos if path.is_dir()]:
        provenance |= read_clips(folder)
    files = [file for path in videos for file in (read_clips(path) if path.is_dir() else [path])]
    rate = fps or annotation_rate(files, out)
    if rate:
        warn_of_other_frames(job.checkpoint, "the videos (see --fps)", rate)
    with bars() as move:
        report = run(
            files,
            out,
            job,
            fps=fps,
            provenance=provenance,
            workers=workers,
            executor=executor,
            finished=lambda name, done, total: move("videos", done, total, name),
            progress=lambda done, total: move("frames", done, total),
        )
    for video in report.annotated:
        say(f"{video.name}: {video.frames:,} frames")
    if report.known:
        say(f"{report.known} videos were in {out} before")
    if report.annotated or report.known:
        say(describe(out))
    for failure in report.failures:
        say(f"failed: {failure.message}", err=True)
    if report.failures:
        raise typer.Exit(1)


def describe(out: Path) -> str:
    from ..data import open_checked

    with open_checked(out) as file:
        return (
            f"{out}: {file.num_frames:,} frames of {file.num_episodes} videos; actions in the vocabulary "
            f"{file.vocabulary.name}, {file.action_origin}"
        )
