"""The unit of annotation: one video becomes one part file with recovered actions, or a one-line failure."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from ..data import Column, DatasetSpec, DatasetWriter
from ..data.journal import journal_path
from ..errors import UserError
from ..formats.owamcap import OwamcapWriter
from ..model import WorldModel
from ..model.pretrained import WEIGHTS_FILE, locate, read_config
from .labelling import label_frames
from .prior import ActionPrior, made_prior, training_prior
from .protocol import RecoveryOptions
from .video_source import VideoSource

_NAME_BYTES = 96
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


@dataclass(frozen=True)
class VideoTask:
    video: Path
    key: int
    part: Path
    job: AnnotationJob
    spec: DatasetSpec


@dataclass(frozen=True)
class Annotated:
    name: str
    frames: int
    confidence: float


@dataclass(frozen=True)
class Failure:
    name: str
    message: str


def annotate_video(task: VideoTask, progress: Progress | None = None) -> Annotated | Failure:
    """Label one video into its part file, which appears when it is complete."""
    if task.job.threads:
        torch.set_num_threads(task.job.threads)
    temporary = task.part.with_name(f".{task.part.name}.{os.getpid()}.tmp")
    try:
        source = VideoSource.open(task.video)
        total = source.count_at(task.spec.fps)
        model, prior = _loaded(task.job.checkpoint, task.job.actions)
        generator = torch.Generator().manual_seed(task.job.options.seed)
        search = task.job.options.searcher(model, prior, generator)
        frames = source.read(model.config.image_size, task.spec.fps)
        weighted = 0.0
        with ExitStack() as files:
            writer = files.enter_context(DatasetWriter(temporary, task.spec))
            mcap = files.enter_context(_owamcap(task)) if task.job.owamcap else None
            episode = files.enter_context(writer.episode())
            for rows in label_frames(search, frames, task.job.options.window):
                count = len(rows.pixels)
                episode.add(
                    rows.pixels,
                    rows.action,
                    score=rows.score,
                    confidence=rows.confidence,
                    video=np.full(count, task.video.name.encode()[:_NAME_BYTES]),
                    video_key=np.full(count, task.key),
                )
                if mcap:
                    for frame, action in zip(rows.pixels, rows.action):
                        mcap.add(frame, action)
                weighted += float(rows.confidence.sum())
                if progress:
                    progress(episode.length, max(total, episode.length))
        temporary.replace(task.part)
        return Annotated(task.video.name, episode.length, weighted / episode.length)
    except UserError as error:
        message = str(error)
        return Failure(task.video.name, message if str(task.video) in message else f"{task.video}: {message}")
    finally:
        temporary.unlink(missing_ok=True)
        journal_path(temporary).unlink(missing_ok=True)


def annotation_spec(job: AnnotationJob, fps: float) -> DatasetSpec:
    """What the file says of itself: which model, in which vocabulary, searched how."""
    model, prior = _loaded(job.checkpoint, job.actions)
    name = job.checkpoint.resolve().name
    name = job.checkpoint.resolve().parent.name if name == "model" else name
    with (locate(job.checkpoint) / WEIGHTS_FILE).open("rb") as weights:
        digest = hashlib.file_digest(weights, "sha256").hexdigest()
    content = read_config(job.checkpoint)
    source = content["provenance"].get("data", {}).get("source", "unknown")
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
            "confidence": Column("float32"),
            "video": Column(f"S{_NAME_BYTES}"),
            "video_key": Column("int64"),
        },
    )


@lru_cache(maxsize=1)
def _loaded(checkpoint: Path, actions: Path | None) -> tuple[WorldModel, ActionPrior]:
    model = WorldModel.from_pretrained(checkpoint)
    if actions is not None:
        return model, training_prior(actions, model.encoding)
    data = read_config(checkpoint)["provenance"].get("data", {})
    effective = data.get("attributes", {}).get("effective")
    return model, made_prior(model.encoding, model.action_scale.numpy(), effective)


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
