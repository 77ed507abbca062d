"""The stages that work on one video each, as functions of a task: they run in any process, and keep their record."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .encode import Shape, export_clips
from .look import Look, look, read_samples
from .records import Folder, digest
from .settings import HarvestSettings
from .states import reader_of
from .timeline import Timeline, read_timeline
from .trouble import Failure, Trouble, one_line
from .verdicts import Clip, clips_of

_VERSION = 5
"""Raised when the same settings begin to give other results."""


@dataclass(frozen=True)
class Task:
    """A video in a stage. `key` names all that the result depends on; `clips` are what is to be exported."""

    stage: str
    id: str
    name: str
    root: Path
    key: str
    settings: HarvestSettings
    source: Path
    clips: tuple[Clip, ...] = ()


def run_task(task: Task) -> dict[str, Any] | Failure:
    """Do a stage for a video and keep its record, or tell why not."""
    folder = Folder(task.root)
    try:
        with one_line(task.name):
            record = {"id": task.id, "key": task.key, **_WORK[task.stage](task, folder)}
            folder.keep(task.stage, task.id, record)
            return record
    except Trouble as trouble:
        return Failure(task.stage, task.id, task.name, trouble.reason, str(trouble))


def stage_key(stage: str, before: str, settings: HarvestSettings, pack: str = "") -> str:
    """What a stage's result for a video depends on, the stage before included."""
    rules = settings.filter
    own: Any = {
        "normalise": settings.cut.hole,
        "cut": [
            {k: v for k, v in settings.describe()["cut"].items() if k not in ("shortest", "longest")},
            rules.sample_hz,
        ],
        "filter": [settings.describe()["filter"], settings.cut.shortest, settings.cut.longest, pack],
        "export": [settings.height, settings.width, settings.fps],
    }[stage]
    return digest(_VERSION, stage, before, own)


def _normalise(task: Task, folder: Folder) -> dict[str, Any]:
    timeline = read_timeline(task.source, task.settings.cut.hole)
    return {"timeline": timeline.to_json(), "seconds": round(timeline.seconds, 3)}


def _timeline(task: Task, folder: Folder) -> Timeline:
    record = folder.record("normalise", task.id)
    assert record is not None
    return replace(Timeline.from_json(record["timeline"]), path=str(task.source))


def _cut(task: Task, folder: Folder) -> dict[str, Any]:
    timeline = _timeline(task, folder)
    seen = look(
        timeline,
        task.settings.cut,
        task.settings.filter.sample_hz,
        folder.samples / f"{task.id}.zip",
        lambda seconds: None,
    )
    if len(seen.pts) < 2:
        raise Trouble("broken", f"{task.name}: nothing of it can be decoded")
    seen.save(folder.work / "cut" / f"{task.id}.npz")
    starts = [0, *seen.cuts.tolist()]
    return {
        "frames": len(seen.pts),
        "seconds": round(timeline.seconds, 3),
        "cuts": [
            {"frame": i, "pts": pts, "s": round(float((pts - timeline.first_pts) * timeline.tick), 6)}
            for i, pts in zip(starts, seen.pts[starts].tolist())
        ],
    }


def _filter(task: Task, folder: Folder) -> dict[str, Any]:
    timeline, reader = _timeline(task, folder), reader_of(task.settings.filter)
    seen = Look.load(folder.work / "cut" / f"{task.id}.npz")
    states = [(frame, reader.state(bgr)) for frame, bgr in read_samples(folder.samples / f"{task.id}.zip")]
    clips = clips_of(seen, timeline, states, task.settings)
    return {
        "clips": [clip.to_json() for clip in clips],
        "seconds": round(sum(clip.seconds for clip in clips), 3),
    }


def _export(task: Task, folder: Folder) -> dict[str, Any]:
    timeline, settings = _timeline(task, folder), task.settings
    spans = [(clip.start_pts, clip.end_pts, folder.root / clip_name(task.id, clip)) for clip in task.clips]
    shape = Shape(settings.height, settings.width, settings.fps)
    counts = export_clips(timeline, spans, shape, lambda done: None)
    return {
        "seconds": round(sum(clip.seconds for clip in task.clips), 3),
        "clips": [
            {"file": path.name, "frames": count, "sha256": sha256(path)}
            for (_, _, path), count in zip(spans, counts)
        ],
    }


def clip_name(id: str, clip: Clip) -> str:
    return f"{id}-{round(clip.start_s * 1000):09}.mp4"


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_WORK: dict[str, Callable[[Task, Folder], dict[str, Any]]] = {
    "normalise": _normalise,
    "cut": _cut,
    "filter": _filter,
    "export": _export,
}
