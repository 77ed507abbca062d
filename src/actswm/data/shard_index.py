"""What is in the shards of a folder, kept beside them, so that opening a thousand costs reading one small file.

An entry is made by opening its shard with all checks, and holds as long as the shard keeps its size and its time of
change. What a reader would have to read row by row is kept as exceptions: rows that are not valid, and boundaries
inside an episode. The index may be deleted at any time; where it cannot be written, it is made anew every time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atomic import write_whole
from ..controls import vocabulary_of
from ..errors import UserError
from .agreement import spec_of
from .journal import journal_path, recover
from .layout import Column, DatasetSpec
from .validation import open_file

INDEX = "shards.index.json"
_VERSION = 1


@dataclass(frozen=True)
class Shard:
    """A checked file: its episodes, and the rows that are out of the ordinary."""

    path: Path
    state: tuple[int, int]
    """Size and time of change (ns) when it was checked."""
    spec: DatasetSpec
    ep_len: NDArray[np.int64]
    invalid: NDArray[np.int64]
    """(n, 2): first row, and the row after the last, of each stretch that is not valid."""
    inner: NDArray[np.int64]
    """Boundary rows other than the first and last of an episode."""

    @property
    def frames(self) -> int:
        return int(self.ep_len.sum())


def indexed(files: Sequence[Path]) -> list[Shard]:
    """The shards at `files`; those that changed since the index was written are checked again, and written to it."""
    folders: dict[Path, list[Path]] = {}
    for file in files:
        folders.setdefault(file.parent, []).append(file)
    found: dict[Path, Shard] = {}
    for folder, members in folders.items():
        found |= _indexed_in(folder, members)
    return [found[file] for file in files]


def _indexed_in(folder: Path, files: Sequence[Path]) -> dict[Path, Shard]:
    with os.scandir(folder) as entries:
        present = {entry.name: entry for entry in entries}
    known = _read(folder)
    shards: dict[Path, Shard] = {}
    changed = False
    for file in files:
        if journal_path(file).name in present:
            recover(file)
        status = os.stat(file)
        state = (status.st_size, status.st_mtime_ns)
        shard = known.get(file.name)
        if shard is None or shard.state != state:
            shard, changed = _checked(file, state), True
        shards[file] = shard
    if changed:
        others = [shard for name, shard in known.items() if name in present and folder / name not in shards]
        with suppress(UserError):  # a folder that is read-only, or a full disk
            _write(folder, [*shards.values(), *others])
    return shards


def _checked(path: Path, state: tuple[int, int]) -> Shard:
    """`state` was taken before: a shard that is written to meanwhile is checked again next time."""
    with open_file(path, may_be_empty=True) as file:
        lengths = file.ep_len.astype(np.int64)
        ends = np.cumsum(lengths)
        wrong = np.diff(np.concatenate([[0], ~file.frame_valid, [0]]).astype(np.int8))
        boundary = file.boundary_mask.copy()
        boundary[ends - 1] = boundary[ends - lengths] = False
        invalid = np.stack([np.flatnonzero(wrong == 1), np.flatnonzero(wrong == -1)], 1)
        return Shard(path, state, spec_of(file), lengths, invalid, np.flatnonzero(boundary))


def _write(folder: Path, shards: Sequence[Shard]) -> None:
    specs: dict[str, int] = {}
    entries = {}
    for shard in shards:
        number = specs.setdefault(json.dumps(_told(shard.spec)), len(specs))
        entries[shard.path.name] = {
            "state": shard.state,
            "spec": number,
            "ep_len": shard.ep_len.tolist(),
            "invalid": shard.invalid.tolist(),
            "inner": shard.inner.tolist(),
        }
    told = {"version": _VERSION, "specs": [json.loads(spec) for spec in specs], "shards": entries}
    write_whole(folder / INDEX, json.dumps(told))


def _told(spec: DatasetSpec) -> dict[str, Any]:
    return {
        "vocabulary": spec.vocabulary.spelling,
        "control_names": spec.vocabulary.names,
        "height": spec.height,
        "width": spec.width,
        "fps": spec.fps,
        "source": spec.source,
        "action_origin": spec.action_origin,
        "attributes": dict(spec.attributes),
        "columns": {name: [column.dtype, column.shape] for name, column in spec.columns.items()},
    }


def _read(folder: Path) -> dict[str, Shard]:
    """By name; an index that is damaged, or of another version, says nothing."""
    try:
        told = json.loads((folder / INDEX).read_bytes())
        if told["version"] != _VERSION:
            return {}
        specs = [_spec(each) for each in told["specs"]]
        return {
            name: Shard(
                folder / name,
                (int(entry["state"][0]), int(entry["state"][1])),
                specs[entry["spec"]],
                _lengths(entry["ep_len"], int(entry["state"][0])),
                _rows(entry["invalid"], 2),
                _rows(entry["inner"], 1),
            )
            for name, entry in told["shards"].items()
        }
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError, UserError):
        return {}


def _lengths(values: list[Any], size: int) -> NDArray[np.int64]:
    """Of episodes; a file of `size` bytes has no more rows."""
    lengths = _rows(values, 1)
    if (lengths < 0).any() or sum(lengths.tolist()) > size:
        raise ValueError("more rows than bytes")
    return lengths


def _rows(values: list[Any], width: int) -> NDArray[np.int64]:
    rows = np.array(values, np.int64)
    return rows.reshape(-1, 2) if width == 2 else rows.reshape(-1)


def _spec(told: dict[str, Any]) -> DatasetSpec:
    return DatasetSpec(
        vocabulary=vocabulary_of(told["vocabulary"], told["control_names"]),
        height=int(told["height"]),
        width=int(told["width"]),
        fps=float(told["fps"]),
        source=str(told["source"]),
        action_origin=str(told["action_origin"]),
        attributes=dict(told["attributes"]),
        columns={name: Column(str(dtype), tuple(shape)) for name, (dtype, shape) in told["columns"].items()},
    )
