"""The unit of work: one recording becomes one part file and one report, or a one-line failure."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..atomic import appearing_whole
from ..data import Column, DatasetSpec, DatasetWriter
from ..errors import UserError
from ..formats.owamcap.crop import crop_recording
from ..json_files import write_json
from .candidates import candidates_of
from .export import Progress, export
from .frames import Source
from .judging import Judge, TrustingJudge
from .judging.batch import CachedJudge, write_requests
from .judging.cache import VerdictCache
from .judging.embedded import EmbeddedJudge
from .judging.ocr import load_ocr, ocr_reader
from .judging.online import OnlineJudge
from .judging.service import client
from .report import Failure, RecordingReport
from .settings import CleanSettings
from .sources import Item, open_source

COLUMNS = {"pts_ns": Column("int64")}


@dataclass(frozen=True)
class Task:
    """What a worker needs for one recording. `key` names its files in the work folder."""

    item: Item
    key: str
    folder: Path
    settings: CleanSettings
    run: str
    cache: Path
    segments: Path | None = None
    dry: bool = False

    @property
    def part(self) -> Path:
        return self.folder / f"{self.key}.h5"

    @property
    def report(self) -> Path:
        return self.folder / f"{self.key}.json"


def task_key(item: Item, settings: CleanSettings) -> str:
    """Changes when the recording's files, their place or the settings change."""
    parts: list[Any] = [str(item.path.resolve()), item.part, settings.digest()]
    for file in item.files():
        if file.exists():
            state = file.stat()
            parts.append([file.name, state.st_size, state.st_mtime_ns])
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def clean_recording(task: Task, progress: Progress | None = None) -> RecordingReport | Failure:
    """Clean one recording. Its files appear under their names only when it is done."""
    judge: Judge | None = None
    try:
        source = open_source(task.item, task.settings)
        judge = make_judge(task)
        size = (task.settings.height, task.settings.width)
        if task.dry:
            outcome = export(source, judge, None, size, task.settings.cuts, progress)
            return RecordingReport.of(source, outcome)
        with appearing_whole(task.part) as temporary:
            with DatasetWriter(temporary, part_spec(source, task.settings)) as writer:
                outcome = export(source, judge, writer, size, task.settings.cuts, progress)
            report = RecordingReport.of(source, outcome)
            if task.segments and task.item.kind == "owamcap":
                pts_ns = source.table.pts_ns
                spans = [(int(pts_ns[first]), int(pts_ns[last])) for first, last, _ in outcome.episodes]
                crop_recording(task.item.path, spans, task.segments)
        write_json(task.report, report.to_json())
        return report
    except Exception as error:
        return failure(task.item, error)
    finally:
        if judge is not None:
            judge.close()


def failure(item: Item, error: Exception) -> Failure:
    """One line for whatever a recording made happen: the decoders raise anything at all on damaged bytes."""
    said = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, (UserError, OSError)):  # OSError: a full disk, a file that went away
        return Failure(item.name, said)
    logging.getLogger(__name__).debug("%s", item.name, exc_info=error)
    return Failure(
        item.name, f"{item.path}: cannot be read ({type(error).__name__}: {said[:160]}); see --verbose"
    )


def ask_about(task: Task) -> int | Failure:
    """Batch mode's first half: write the questions about one recording that have no answer yet."""
    service = task.settings.service
    assert service is not None  # `require_judge` saw to it
    try:
        source = open_source(task.item, task.settings)
        cache = VerdictCache(task.cache)
        candidates = candidates_of(source, task.settings.cuts.candidate_ns)
        return write_requests(
            task.folder / "batch", task.key, candidates, task.settings.domain, service, cache
        )
    except Exception as error:
        return failure(task.item, error)


def part_spec(source: Source, settings: CleanSettings) -> DatasetSpec:
    return DatasetSpec(
        settings.vocabulary,
        settings.height,
        settings.width,
        source.fps,
        source=settings.domain.name,
        columns=COLUMNS,
        compression=settings.compression,
    )


def require_judge(settings: CleanSettings) -> None:
    """Fail before the first recording if the judge lacks a package, a model or a key."""
    if settings.judge == "embedded":
        load_ocr()
    elif settings.judge in ("online", "batch"):
        if settings.service is None:
            raise UserError(f"--judge {settings.judge} needs --judge-model")
        if settings.judge == "online":
            client(settings.service).close()


def make_judge(task: Task) -> Judge:
    """The judge that the settings ask for. Only `online` ever opens a connection."""
    settings = task.settings
    if settings.judge == "none":
        return TrustingJudge()
    if settings.judge in ("embedded", "rules"):
        return EmbeddedJudge(settings.domain, ocr_reader() if settings.judge == "embedded" else None)
    assert settings.service is not None  # `require_judge` saw to it
    cache = VerdictCache(task.cache)
    if settings.judge == "batch":
        return CachedJudge(settings.domain, settings.service, cache)
    return OnlineJudge(settings.domain, settings.service, cache, task.run)
