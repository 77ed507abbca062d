"""The unit of annotation: one video becomes one part file with recovered actions, or a one-line failure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch

from ..data import Column, DatasetSpec, open_checked
from ..data.writer import new_dataset
from ..errors import UserError
from ..formats.owamcap import OwamcapWriter
from ..model import WorldModel
from ..model.device import chosen_device
from ..saved_models import WEIGHTS_FILE, locate, read_config
from .annotated_rows import AnnotatedRows
from .idm_annotation import IdmJob, idm_attributes, idm_columns, idm_rows, loaded_idm, weights_digest
from .labelling import label_frames
from .prior import ActionPrior, made_prior, training_prior
from .protocol import RecoveryOptions
from .video_source import VideoSource

_NAME_BYTES = 96
PROVENANCE = "provenance"
"""Column with JSON about where a video comes from, in files that have it."""
_PROVENANCE_BYTES = 768
Progress = Callable[[int, int], None]
"""Hears the frames done, and about how many there are."""


@dataclass(frozen=True)
class AnnotationJob:
    """How every video of a run is labelled. `actions` is a dataset file whose training split is the prior."""

    checkpoint: Path
    options: RecoveryOptions
    actions: Path | None = None
    owamcap: Path | None = None
    threads: int | None = None
    """CPU threads of torch; None leaves its choice."""
    device: str = "cpu"
    """Of the model, where the work is done: `auto` may be another one on each machine."""


@dataclass(frozen=True)
class VideoTask:
    video: Path
    key: int
    part: Path
    job: AnnotationJob | IdmJob
    spec: DatasetSpec
    provenance: Mapping[str, Any] | None = None
    """Where the video comes from; stored with each of its frames."""
    source: VideoSource | None = None
    """The video, if it has been opened before: reading its timestamps takes a while."""


@dataclass(frozen=True)
class Annotated:
    """`invalid` of the frames are not to be trained on; `off_domain` are unlike what the labeller was trained on."""

    name: str
    frames: int
    invalid: int = 0
    off_domain: int = 0


@dataclass(frozen=True)
class Failure:
    name: str
    message: str


def annotate_video(task: VideoTask, progress: Progress | None = None) -> Annotated | Failure:
    """Label one video into its part file, which appears when it is complete."""
    if task.job.threads:
        torch.set_num_threads(task.job.threads)
        cv2.setNumThreads(task.job.threads)
    if done := _done_before(task):
        return done
    try:
        source = task.source or VideoSource.open(task.video)
        total = source.count_at(task.spec.fps)
        told = {PROVENANCE: provenance_bytes(task.provenance or {})} if PROVENANCE in task.spec.columns else {}
        with ExitStack() as files:
            writer = files.enter_context(new_dataset(task.part, task.spec))
            mcap = files.enter_context(_owamcap(task)) if task.job.owamcap else None
            episode = files.enter_context(writer.episode())
            invalid = off_domain = 0
            for rows in _labelled(task, source):
                count = len(rows.pixels)
                episode.add(
                    rows.pixels,
                    rows.action,
                    rows.valid,
                    **rows.columns,
                    video=np.full(count, task.video.name.encode()[:_NAME_BYTES]),
                    video_key=np.full(count, task.key),
                    **{name: np.full(count, text) for name, text in told.items()},
                )
                invalid += 0 if rows.valid is None else int((~rows.valid).sum())
                off_domain += _foreign(rows.columns)
                if mcap:
                    for frame, action in zip(rows.pixels, rows.action):
                        mcap.add(frame, action)
                if progress:
                    progress(episode.length, max(total, episode.length))
        return Annotated(task.video.name, episode.length, invalid, off_domain)
    except UserError as error:
        message = str(error)
        return Failure(task.video.name, message if str(task.video) in message else f"{task.video}: {message}")


def _done_before(task: VideoTask) -> Annotated | None:
    """Its part, if a run that was killed left it waiting for its turn."""
    if not task.part.exists():
        return None
    with open_checked(task.part) as part:
        same = all(part.attributes.get(name) == value for name, value in task.spec.attributes.items())
        same &= part.fps == task.spec.fps and set(part.extra_columns) == set(task.spec.columns)
        if not same:
            return None
        columns = {name: part.column(name) for name in part.extra_columns}
        invalid = int((~part.frame_valid.astype(bool)).sum())
        return Annotated(task.video.name, part.num_frames, invalid, _foreign(columns))


def _foreign(columns: Mapping[str, Any]) -> int:
    return int((columns["off_domain"] > 1).sum()) if "off_domain" in columns else 0


def _labelled(task: VideoTask, source: VideoSource) -> Iterator[AnnotatedRows]:
    job = task.job
    frames = source.read(task.spec.height, task.spec.fps)
    if isinstance(job, IdmJob):
        yield from idm_rows(job, frames)
        return
    model, prior = _loaded(job)
    search = job.options.searcher(model, prior, torch.Generator().manual_seed(job.options.seed))
    for rows in label_frames(search, frames, job.options.window):
        yield AnnotatedRows(rows.pixels, rows.action, {"score": rows.score, "gain": rows.gain})


def provenance_bytes(told: Mapping[str, Any]) -> bytes:
    """JSON that fits its column: the longest texts are shortened first."""
    fields = dict(told)
    while len(text := json.dumps(fields, ensure_ascii=False).encode()) > _PROVENANCE_BYTES:
        longest = max((name for name in fields if isinstance(fields[name], str)), key=lambda name: len(fields[name]))
        fields[longest] = fields[longest][: len(fields[longest]) * 3 // 4]
    return text


def annotation_spec(job: AnnotationJob | IdmJob, fps: float, provenance: bool = False) -> DatasetSpec:
    """What the file says of itself: which model, in which vocabulary, searched how."""
    video_columns = {
        "video": Column(f"S{_NAME_BYTES}"),
        "video_key": Column("int64"),
        **({PROVENANCE: Column(f"S{_PROVENANCE_BYTES}")} if provenance else {}),
    }
    if isinstance(job, IdmJob):
        labeller, digest = loaded_idm(job.idm), weights_digest(job.idm)
        return DatasetSpec(
            labeller.encoding.vocabulary,
            labeller.config.image_size,
            labeller.config.image_size,
            fps,
            source="annotated video",
            action_origin=f"recovered by inverse dynamics, {job.idm.name} ({digest[:12]})",
            attributes=idm_attributes(job),
            columns={**idm_columns(job), **video_columns},
        )
    model, prior = _loaded(job)
    name = job.checkpoint.resolve().name
    name = job.checkpoint.resolve().parent.name if name == "model" else name
    with (locate(job.checkpoint) / WEIGHTS_FILE).open("rb") as weights:
        digest = hashlib.file_digest(weights, "sha256").hexdigest()
    content = read_config(job.checkpoint)
    source = _told(content["provenance"], "data", "source") or "unknown"
    size, controls = model.config.image_size, model.encoding.vocabulary.size
    return DatasetSpec(
        model.encoding.vocabulary,
        size,
        size,
        fps,
        source="annotated video",
        action_origin=f"recovered by {name} ({digest[:12]}, trained on {source})",
        attributes={
            "model": {"name": name, "weights_sha256": digest, "provenance": content["provenance"]},
            "vocabulary": model.config.vocabulary,
            "frameskip": model.config.frameskip,
            "search": asdict(job.options),
            "prior": prior.origin,
        },
        columns={
            "score": Column("float32", (controls,)),
            "gain": Column("float32"),
            **video_columns,
        },
    )


@lru_cache(maxsize=1)
def _loaded(job: AnnotationJob) -> tuple[WorldModel, ActionPrior]:
    model = WorldModel.from_pretrained(job.checkpoint, chosen_device(job.device))
    if job.actions is not None:
        return model, training_prior(job.actions, model.encoding)
    effective = _told(read_config(job.checkpoint)["provenance"], "data", "attributes", "effective")
    named = isinstance(effective, list) and all(isinstance(name, str) for name in effective)
    return model, made_prior(model.encoding, model.action_scale.cpu().numpy(), effective if named else None)


def _told(tree: Any, *path: str) -> Any:
    """What lies there, if anything does: a damaged model may say anything of its data."""
    for name in path:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def _owamcap(task: VideoTask) -> OwamcapWriter:
    assert task.job.owamcap is not None
    spec = task.spec
    return OwamcapWriter(
        task.job.owamcap / f"{task.video.stem}-{task.key % 16**8:08x}.mcap",
        height=spec.height,
        width=spec.width,
        fps=spec.fps,
        vocabulary=spec.vocabulary,
    )
