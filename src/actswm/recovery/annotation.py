"""Video without actions becomes a dataset file with recovered ones: many videos, one file, resumable per video.

Each video is labelled into a part file by some process and then, in its turn, appended to the output as one episode,
which appears whole or not at all. The rows name their video by its content, so that a second run knows what is done.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..data import DatasetSpec, DatasetWriter, open_checked
from ..errors import UserError
from ..executor import ExecutorKind, run_tasks
from ..processes import only_run
from .annotated_video import (
    PROVENANCE,
    Annotated,
    AnnotationJob,
    Failure,
    Progress,
    VideoTask,
    annotate_video,
    annotation_spec,
)
from .idm_annotation import IdmJob
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
    job: AnnotationJob | IdmJob,
    *,
    fps: float | None = None,
    provenance: Mapping[Path, Mapping[str, Any]] | None = None,
    workers: int = 1,
    executor: ExecutorKind = "processes",
    finished: Callable[[str, int, int], None] = lambda name, done, total: None,
    progress: Progress | None = None,
) -> AnnotationReport:
    """Label `videos` into the dataset file `out`; those that cannot be read are reported and skipped.

    `fps` is the rate of raw steps; without it that of the file, or of the first sound video. `provenance` tells of
    some videos where they come from, which is stored with their frames.
    """
    if isinstance(job, AnnotationJob) and job.options.target == "far":
        raise UserError("annotation needs each step's own frame as target: use every-step or joint")
    failures, keys, sources = [], dict[int, Path](), dict[Path, VideoSource]()
    for video in videos:
        try:
            sources[video] = replace(VideoSource.open(video), path=video.resolve())
            rate = sources[video].fps
        except UserError as error:
            failures.append(Failure(video.name, str(error)))
            continue
        fps = fps or (_rate_of(out) if out.exists() else rate)
        keys.setdefault(content_key(video), video)
    if not keys:
        return AnnotationReport((), tuple(failures), 0)
    assert fps is not None
    spec = annotation_spec(job, fps, bool(provenance) or _tells_provenance(out))
    folder = out.with_name(f"{out.name}.work")
    with only_run(folder):
        if out.exists():
            _require_same_annotation(out, spec)
        known, told = _keys_in(out), provenance or {}
        tasks = [
            VideoTask(
                video.resolve(), key, folder.resolve() / f"{key:016x}.h5", job, spec, told.get(video), sources[video]
            )
            for key, video in keys.items()
            if key not in known
        ]
        alone = executor == "processes" and (workers == 1 or len(tasks) == 1)
        work = partial(annotate_video, progress=progress) if alone else annotate_video
        annotated, waiting, results = [], deque(tasks), dict[int, Annotated | Failure]()
        for task, result in run_tasks(work, tasks, workers, executor):
            results[task.key] = result
            while waiting and (next_done := results.get(waiting[0].key)):  # episodes in the order of `videos`
                if isinstance(next_done, Failure):
                    failures.append(next_done)
                else:
                    _append(waiting[0], out)
                    annotated.append(next_done)
                waiting.popleft()
            finished(task.video.name, len(results), len(tasks))
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
            open_checked(task.part) as part,
            DatasetWriter(out, task.spec) as writer,
            writer.episode() as episode,
        ):
            columns = {name: part.column(name) for name in task.spec.columns}
            for first in range(0, part.num_frames, _BLOCK):
                rows = slice(first, min(first + _BLOCK, part.num_frames))
                episode.add(
                    part.frames(rows),
                    part.action[rows],
                    part.frame_valid[rows],
                    **{name: column[rows] for name, column in columns.items()},
                )
    task.part.unlink()


def _keys_in(out: Path) -> set[int]:
    if not out.exists():
        return set()
    with open_checked(out, may_be_empty=True) as file:
        return (
            set(np.unique(file.column("video_key")).tolist()) if "video_key" in file.extra_columns else set()
        )


def annotation_rate(videos: Sequence[Path], out: Path) -> float | None:
    """Raw steps a second unless a rate is asked for: those of the file, or of the first sound video."""
    if out.exists():
        return _rate_of(out)
    for video in videos:
        try:
            return VideoSource.open(video).fps
        except UserError:
            continue
    return None


def _rate_of(out: Path) -> float:
    with open_checked(out, may_be_empty=True) as file:
        return file.fps


def _tells_provenance(out: Path) -> bool:
    if not out.exists():
        return False
    with open_checked(out, may_be_empty=True) as file:
        return PROVENANCE in file.extra_columns


def _require_same_annotation(out: Path, spec: DatasetSpec) -> None:
    with open_checked(out, may_be_empty=True) as file:
        for name, value in spec.attributes.items():
            if file.attributes.get(name) != value:
                raise UserError(f"{out}: was annotated with another {name}; choose another --out")
        if PROVENANCE in set(spec.columns) - set(file.extra_columns):
            raise UserError(f"{out}: says of no video where it comes from; choose another --out for a harvest's clips")
        if set(file.extra_columns) != set(spec.columns):  # earlier files call `gain` `confidence`
            raise UserError(f"{out}: was annotated by another version, with other columns; choose another --out")
