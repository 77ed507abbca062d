"""The windows' rows as one dataset file, in the order of the windows.

Rows lie beside their clips until they are in the file, and `dataset.json` says which windows those are. The file and
its list cannot be replaced in one instant: the new list is written first, under another name, and knows its file by
size and time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...atomic import appearing_whole
from ...controls import KEYS14
from ...data import Column, DatasetSpec, DatasetWriter, open_checked
from ...data.merging import copy_episode
from ...formats.replay import Replay
from ...json_files import read_json, write_json
from .render import ROWS, ExportSettings, Task

NAME = "dataset.h5"


def replay_spec(replay: Replay, settings: ExportSettings) -> DatasetSpec:
    height, width = settings.size
    return DatasetSpec(
        vocabulary=KEYS14,
        height=height,
        width=width,
        fps=settings.fps,
        source=f"{replay.game}/{replay.map}",
        action_origin="recorded" if replay.tells_input else "unknown",
        attributes={
            "true_controls": replay.tells_input,
            "controls_from": "buttons and view angles of the demo, tick by tick" if replay.tells_input else "",
            "demo": replay.path.name,
            "build": replay.build,
            "tick_rate": replay.tick_rate,
            "engine": settings.engine,
            "missing": list(replay.missing),
        },
        columns={"tick": Column("int64"), "residual": Column("float32"), "window": Column("int64")},
    )


def put_together(out: Path, tasks: Sequence[Task], spec: DatasetSpec) -> int:
    """Bring `out/dataset.h5` up to the finished windows among `tasks`; returns its frames."""
    path = out / NAME
    known = windows_in(out)
    mine = {task.key for task in tasks}
    keys = [key for key in known if key not in mine]  # of an earlier run with other windows
    keys += [task.key for task in tasks if task.key in known or (task.folder / ROWS).exists()]
    if keys and keys != known:
        _write_file(path, tasks, keys, known, spec)
    for task in tasks:
        if task.key in keys:
            (task.folder / ROWS).unlink(missing_ok=True)
    if not path.exists():
        return 0
    with open_checked(path) as file:
        return file.num_frames


def _write_file(
    path: Path, tasks: Sequence[Task], keys: Sequence[str], known: Sequence[str], spec: DatasetSpec
) -> None:
    by_key = {task.key: task for task in tasks}
    with appearing_whole(path) as temporary:
        with ExitStack() as stack:
            writer = stack.enter_context(DatasetWriter(temporary, spec))
            old = stack.enter_context(open_checked(path)) if known else None
            columns = {name: old.column(name) for name in spec.columns} if old else {}
            for key in keys:
                if old is not None and key in known:
                    copy_episode(old, known.index(key), writer, columns)
                else:
                    writer.append(**_load(by_key[key].folder / ROWS))
        status = temporary.stat()
        listed = {"size": status.st_size, "time": status.st_mtime_ns, "windows": keys}
        write_json(_list(path.parent, "next"), listed)
    _list(path.parent, "next").replace(_list(path.parent))


def _load(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def windows_in(out: Path) -> list[str]:
    """Keys of the windows in the file, in its order; none where there is no file that a list knows."""
    try:
        status = (out / NAME).stat()
    except OSError:
        return []
    for path in (_list(out), _list(out, "next")):
        try:
            stored: Mapping[str, Any] = read_json(path)
        except (OSError, ValueError):
            continue
        if (stored.get("size"), stored.get("time")) == (status.st_size, status.st_mtime_ns):
            path.replace(_list(out))
            return list(stored["windows"])
    return []


def _list(out: Path, extra: str = "") -> Path:
    return out / (f"dataset.{extra}.json" if extra else "dataset.json")
