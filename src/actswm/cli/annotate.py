"""`actswm annotate`: videos become a dataset file with recovered actions."""

from __future__ import annotations

from pathlib import Path

import typer

from .recover import CANDIDATES, CLIP, ELITES, ITERATIONS, METHOD, WINDOW


def annotate(
    checkpoint: Path = typer.Argument(help="Folder of a saved model."),
    videos: list[Path] = typer.Argument(help="Video files of any kind that PyAV opens."),
    out: Path = typer.Option(..., "--out", "-o", help="Dataset file (.h5); an unfinished one is continued."),
    actions: Path = typer.Option(
        None, help="Dataset file whose training actions guide the search (best: the model's own data)."
    ),
    target: str = typer.Option("joint", help="joint (some steps at once) or every-step."),
    method: str = METHOD,
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
    workers: int = typer.Option(1, min=1, help="Videos that are worked on at the same time."),
    executor: str = typer.Option("processes", help="processes (this machine) or ray (a Ray cluster)."),
) -> None:
    """Label videos that have no actions with those that a world model finds in them.

    The labels are the model's: they mean what its vocabulary means in the game it was trained on. Each video is one
    episode; column `confidence` says how much better than ordinary actions the found ones explain the frames.
    The same command again does only what is missing. Exit code 1: some videos could not be read.

    Example: actswm annotate runs/room/model clips/*.mp4 --actions room.h5 --out clips.h5
    """
    from ..errors import UserError
    from ..model.pretrained import locate
    from ..recovery.annotation import AnnotationJob
    from ..recovery.annotation import annotate as run
    from ..recovery.protocol import RecoveryOptions
    from ..recovery.search import SearchSettings
    from .bars import bars

    if executor not in ("processes", "ray"):
        raise UserError(f"--executor {executor!r} is unknown; use one of: processes, ray")
    options = RecoveryOptions(
        SearchSettings(candidates, elites, iterations, clip=clip),
        method,  # type: ignore[arg-type]  # checked by the class
        target,  # type: ignore[arg-type]
        joint_window,
        seed=seed,
    )
    job = AnnotationJob(
        locate(checkpoint).resolve(),
        options,
        actions.resolve() if actions else None,
        owamcap.resolve() if owamcap else None,
        threads=1 if workers > 1 or executor == "ray" else None,
    )
    with bars() as move:
        report = run(
            videos,
            out,
            job,
            fps=fps,
            workers=workers,
            executor=executor,  # type: ignore[arg-type]
            finished=lambda name, done, total: move("videos", done, total, name),
            progress=lambda done, total: move("frames", done, total),
        )
    for video in report.annotated:
        typer.echo(f"{video.name}: {video.frames:,} frames, mean confidence {video.confidence:.3f}")
    if report.known:
        typer.echo(f"{report.known} videos were in {out} before")
    if report.annotated or report.known:
        typer.echo(describe(out))
    for failure in report.failures:
        typer.echo(f"failed: {failure.message}", err=True)
    if report.failures:
        raise typer.Exit(1)


def describe(out: Path) -> str:
    from ..data import DatasetFile

    with DatasetFile(out) as file:
        return (
            f"{out}: {file.num_frames:,} frames of {file.num_episodes} videos; actions in the vocabulary "
            f"{file.vocabulary.name}, {file.action_origin}"
        )
