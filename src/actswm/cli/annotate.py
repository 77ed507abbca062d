"""`actswm annotate`: videos become a dataset file with recovered actions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from ..dataset_paths import ENDING, absolute
from .arguments import DEVICE, EXECUTOR, Executor, file_to_write
from .printing import say
from .recover import CANDIDATES, CLIP, ELITES, ITERATIONS, METHOD, WINDOW, Search

if TYPE_CHECKING:
    from ..recovery.idm_annotation import IdmJob

_MUCH = 0.1
"""Share of invalid frames that is worth a warning."""


def annotate(
    inputs: list[Path] = typer.Argument(
        metavar="[MODEL] VIDEOS...",
        help="A run, a saved model's folder or shipped weights by name (not with --idm); then video files of any kind "
        "that PyAV opens, or the folder of a harvest. With --idm also one dataset file: its frames, labelled anew.",
    ),
    out: Path = typer.Option(
        ..., "--out", "-o", help="Dataset file (.h5); an unfinished one is continued.", callback=file_to_write
    ),
    idm: Path = typer.Option(
        None, help="Label by this inverse-dynamics model (actswm idm) alone: fast, and it says how sure it is."
    ),
    min_confidence: float = typer.Option(
        0.7, min=0, max=1, help="--idm: steps whose labels are less likely right are marked invalid."
    ),
    force: bool = typer.Option(
        False, "--force", help="--idm: label videos unlike anything that the model was trained on, too."
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
    seed: int = typer.Option(42, min=0, help="Seed of the search."),
    owamcap: Path = typer.Option(None, help="Folder that gets each video as OWAMcap (MCAP + MKV), too."),
    device: str = DEVICE,
    workers: int = typer.Option(1, min=1, help="Videos that are worked on at the same time."),
    executor: Executor = EXECUTOR,
) -> None:
    """Label videos that have no actions with those that a world model, or an inverse-dynamics model, finds in them.

    The labels are the model's: they mean what its vocabulary means in the game it was trained on. Each video is one
    episode. Labels of --idm come with a probability, and a video that is nothing like its game is refused; nothing says
    how sure a world model's label is: check some against recorded actions (actswm recover).
    The same command again does only what is missing. Exit code 1: some videos could not be read, or were refused.

    Example: actswm annotate clips/*.mp4 --idm runs/room-idm --out clips.h5
    """
    from ..curation.harvest.clips import read_clips
    from ..errors import UserError
    from ..recovery.annotation import AnnotationJob, annotation_rate
    from ..recovery.annotation import annotate as run
    from ..recovery.idm_annotation import IdmJob
    from ..recovery.protocol import RecoveryOptions
    from ..recovery.search import RecoverySettings
    from ..saved_models import locate
    from .bars import bars
    from .trained_on import warn_of_other_frames, warn_of_other_rate

    threads = 1 if workers > 1 or executor == "ray" else None
    mcap = owamcap.resolve() if owamcap else None
    job: AnnotationJob | IdmJob
    if idm and any(path.suffix == ENDING for path in inputs):
        if len(inputs) > 1 or fps or owamcap or workers > 1:
            raise UserError(f"{inputs[0]}: a dataset file is labelled alone, by one process, as it is; give only --out")
        return _relabel(inputs[0], out, IdmJob(idm.resolve(), min_confidence, force))
    if idm:
        videos, job = inputs, IdmJob(idm.resolve(), min_confidence, force, mcap, threads)
    else:
        videos = inputs[1:]
        if not videos:
            raise UserError("name a model and then videos, or --idm and videos")
        options = RecoveryOptions(
            RecoverySettings(candidates, elites, iterations, clip=clip),
            method,
            target,
            joint_window,
            seed=seed,
        )
        job = AnnotationJob(
            locate(inputs[0]).resolve(), options, absolute(actions) if actions else None, mcap, threads, device
        )
    provenance: dict[Path, dict[str, Any]] = {}
    for folder in [path for path in videos if path.is_dir()]:
        provenance |= read_clips(folder)
    files = [file for path in videos for file in (read_clips(path) if path.is_dir() else [path])]
    rate = fps or annotation_rate(files, out)
    if rate and isinstance(job, IdmJob):
        warn_of_other_rate(job.idm, rate)
    elif rate and isinstance(job, AnnotationJob):
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
        if video.invalid > _MUCH * video.frames:
            say(
                f"{video.name}: {video.invalid / video.frames:.0%} of its frames are marked invalid, "
                f"{video.off_domain / video.frames:.0%} are unlike what the idm was trained on",
                err=True,
            )
    if report.known:
        say(f"{report.known} videos were in {out} before")
    if report.annotated or report.known:
        say(describe(out))
    for failure in report.failures:
        say(f"failed: {failure.message}", err=True)
    if report.failures:
        raise typer.Exit(1)


def _relabel(data: Path, out: Path, job: IdmJob) -> None:
    from ..data import open_checked
    from ..recovery.relabelling import relabel
    from .bars import bars
    from .trained_on import warn_of_other_rate

    with open_checked(data) as file:
        warn_of_other_rate(job.idm, file.fps)
    with bars() as move:
        done = relabel(data, out, job, lambda count, total: move("frames", count, total))
    say(
        f"{out}: {done.frames:,} frames of {done.episodes} episodes, {done.invalid / done.frames:.0%} marked invalid, "
        f"{done.off_domain / done.frames:.0%} are unlike what the idm was trained on"
    )


def describe(out: Path) -> str:
    from ..data import open_checked

    with open_checked(out) as file:
        return (
            f"{out}: {file.num_frames:,} frames of {file.num_episodes} videos; actions in the vocabulary "
            f"{file.vocabulary.name}, {file.action_origin}"
        )
