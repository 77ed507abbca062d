"""Video without actions becomes a dataset file with recovered ones: many videos, one file, resumable per video.

Each video is labelled into a part file by some process and then appended to the output as one episode, which
appears whole or not at all. The rows name their video by its content, so that a second run knows what is done.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ..data import DatasetFile, DatasetSpec, DatasetWriter
from ..errors import UserError
from ..executor import ExecutorKind, run_tasks
from .annotated_video import (
    Annotated,
    AnnotationJob,
    Failure,
    Progress,
    VideoTask,
    annotate_video,
    annotation_spec,
)
from .video_source import VideoSource

_BLOCK = 256


@dataclass(frozen=True)
class AnnotationReport:
    """`known` videos were in the file before."""

    annotated: tuple[Annotated, ...]
    failures: tuple[Failure, ...]
    known: int


def annotate(
    videos: Sequence[Path],
    out: Path,
    job: AnnotationJob,
    *,
    fps: float | None = None,
    workers: int = 1,
    executor: ExecutorKind = "processes",
    finished: Callable[[str, int, int], None] = lambda name, done, total: None,
    progress: Progress | None = None,
) -> AnnotationReport:
    """Label `videos` into the dataset file `out`; those that cannot be read are reported and skipped.

    `fps` is the rate of raw steps; without it that of the file, or of the first sound video.
    """
    if job.options.target == "far":
        raise UserError("annotation needs each step's own frame as target: use every-step or joint")
    failures, keys = [], dict[int, Path]()
    for video in videos:
        try:
            rate = VideoSource.open(video).fps
        except UserError as error:
            failures.append(Failure(video.name, str(error)))
            continue
        fps = fps or (_rate_of(out) if out.exists() else rate)
        keys.setdefault(content_key(video), video)
    if not keys:
        return AnnotationReport((), tuple(failures), 0)
    assert fps is not None
    spec = annotation_spec(job, fps)
    if out.exists():
        _require_same_annotation(out, spec)
    known = _keys_in(out)
    folder = out.with_name(f"{out.name}.work")
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [
        VideoTask(video.resolve(), key, folder.resolve() / f"{key:016x}.h5", job, spec)
        for key, video in keys.items()
        if key not in known
    ]
    alone = executor == "processes" and (workers == 1 or len(tasks) == 1)
    work = partial(annotate_video, progress=progress) if alone else annotate_video
    annotated = []
    for done, (task, result) in enumerate(run_tasks(work, tasks, workers, executor), 1):
        if isinstance(result, Failure):
            failures.append(result)
        else:
            _append(task, out)
            annotated.append(result)
        finished(task.video.name, done, len(tasks))
    shutil.rmtree(folder)
    return AnnotationReport(tuple(annotated), tuple(failures), len(keys) - len(tasks))


def content_key(path: Path) -> int:
    """A positive number that names a video by its content: it may be moved or renamed between runs."""
    with path.open("rb") as file:
        return int(hashlib.file_digest(file, "sha256").hexdigest()[:15], 16)


def _append(task: VideoTask, out: Path) -> None:
    """Add the part's episode to the file, unless another run was faster."""
    if task.key not in _keys_in(out):
        with (
            DatasetFile(task.part) as part,
            DatasetWriter(out, task.spec) as writer,
            writer.episode() as episode,
        ):
            columns = {name: part.column(name) for name in task.spec.columns}
            for first in range(0, part.num_frames, _BLOCK):
                rows = slice(first, min(first + _BLOCK, part.num_frames))
                episode.add(
                    part.pixels[rows],
                    part.action[rows],
                    **{name: column[rows] for name, column in columns.items()},
                )
    task.part.unlink()


def _keys_in(out: Path) -> set[int]:
    if not out.exists():
        return set()
    with DatasetFile(out) as file:
        return (
            set(np.unique(file.column("video_key")).tolist()) if "video_key" in file.extra_columns else set()
        )


def _rate_of(out: Path) -> float:
    with DatasetFile(out) as file:
        return file.fps


def _require_same_annotation(out: Path, spec: DatasetSpec) -> None:
    with DatasetFile(out) as file:
        for name, value in spec.attributes.items():
            if file.attributes.get(name) != value:
                raise UserError(f"{out}: was annotated with another {name}; choose another --out")
