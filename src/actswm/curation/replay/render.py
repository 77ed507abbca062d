"""One window, from launch to files. A folder with `window.json` in it is finished."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...atomic import write_whole, written_whole
from ...controls import KEYS14
from ...errors import UserError
from ...formats.replay import Replay, Window
from ...formats.video import NS
from ...json_files import read_json, write_json
from .alignment import align
from .clip import write_clip
from .engine import OpenEngine, show
from .rows import make_rows, pictures, table

CLIP, TABLE, DONE, ROWS = "full_round.mp4", "frames.jsonl", "window.json", "rows.npz"
TRIES = 2
"""An engine that dies costs a second launch, then the window."""


@dataclass(frozen=True)
class ExportSettings:
    """What is rendered; with the demo and the engine it decides the files."""

    size: tuple[int, int] = (128, 128)
    fps: float = 25.0
    engine: str = ""
    """The engine and how it is run, in words."""
    owamcap: bool = False
    """Also write each clip as OWAMcap, for `actswm score`."""


@dataclass(frozen=True)
class Task:
    window: Window
    replay: Replay
    """Only what concerns the window."""
    key: str
    folder: Path
    settings: ExportSettings
    open_engine: OpenEngine


@dataclass(frozen=True)
class Outcome:
    """What became of a window; `problem` is None where all went well."""

    name: str
    key: str
    frames: int = 0
    valid: int = 0
    method: str = ""
    tries: int = 1
    problem: str | None = None


def cut(replay: Replay, window: Window) -> Replay:
    """The part of a replay that a window's worker needs."""
    return replace(
        replay,
        tracks={window.slot: replay.tracks[window.slot]} if window.slot in replay.tracks else {},
        events=tuple(one for one in replay.events if one.slot == window.slot),
    )


def task_key(digest: str, window: Window, settings: ExportSettings) -> str:
    """Equal keys, equal files (as far as the engine is deterministic)."""
    parts = json.dumps([digest, asdict(window), asdict(settings)], sort_keys=True)
    return hashlib.sha256(parts.encode()).hexdigest()[:32]


def file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def finished(task: Task) -> Outcome | None:
    """The outcome of a window that an earlier run finished with the same settings."""
    try:
        stored = read_json(task.folder / DONE)
        outcome = Outcome(**stored["outcome"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return outcome if outcome.key == task.key else None


def render_window(task: Task) -> Outcome:
    """Launch, capture, align, export; twice if the engine fails."""
    problem = ""
    for attempt in range(1, TRIES + 1):
        try:
            return _render(task, attempt)
        except UserError as error:
            return Outcome(task.window.name, task.key, tries=attempt, problem=str(error))
        except (RuntimeError, OSError) as error:
            problem = str(error) or type(error).__name__
    return Outcome(task.window.name, task.key, tries=TRIES, problem=problem)


def _render(task: Task, attempt: int) -> Outcome:
    settings, window, replay = task.settings, task.window, task.replay
    capture = show(task.open_engine(replay), window)
    if not len(capture.frames):
        raise RuntimeError("the engine showed no frame")
    alignment = align(capture, replay, window)
    rows = make_rows(capture, alignment, replay, window, settings.fps)
    if not rows.valid.any():
        raise RuntimeError("no captured frame could be aligned with the demo")
    frames = pictures(capture, rows, settings.size)
    shutil.rmtree(task.folder, ignore_errors=True)
    task.folder.mkdir(parents=True)
    write_clip(task.folder / CLIP, frames, settings.fps)
    lines = table(rows, replay, window, settings.fps)
    write_whole(task.folder / TABLE, "".join(json.dumps(line) + "\n" for line in lines))
    if settings.owamcap:
        _write_owamcap(task.folder / CLIP, frames, rows.action, settings.fps)
    columns: dict[str, NDArray[Any]] = {
        "tick": rows.tick,
        "residual": rows.residual,
        "window": np.full(len(rows), window.number),
    }
    if capture.columns is not None:
        columns = {name: values[rows.source] for name, values in capture.columns.items()}
    valid = (rows.valid & rows.known).astype(np.uint8)
    _save_rows(task.folder / ROWS, {"pixels": frames, "action": rows.action, "frame_valid": valid, **columns})
    outcome = Outcome(window.name, task.key, len(rows), int(rows.valid.sum()), alignment.method, attempt)
    facts = {
        "outcome": asdict(replace(outcome, tries=1)),  # the same file, however often it was tried
        "window": asdict(window),
        "settings": asdict(settings),
        "demo": replay.path.name,
        "captured": len(capture.frames),
        "captured_repeated": int(alignment.repeated.sum()),
        "captured_dropped": int(alignment.dropped.sum()),
        "controls_known": bool(rows.known.any()),
    }
    write_json(task.folder / DONE, facts)
    return outcome


def _write_owamcap(clip: Path, frames: NDArray[np.uint8], action: NDArray[np.float32], fps: float) -> None:
    from ...formats.owamcap import OwamcapWriter

    _, height, width, _ = frames.shape
    with OwamcapWriter(
        clip.with_suffix(".mcap"), height=height, width=width, fps=fps, vocabulary=KEYS14, start_ns=NS
    ) as writer:
        for frame, pressed in zip(frames, action):
            writer.add(frame, pressed)


def _save_rows(path: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    with written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, **columns)  # type: ignore[arg-type]
