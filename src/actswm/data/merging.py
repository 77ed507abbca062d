"""Put several dataset files of one vocabulary and frame size into one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..errors import UserError
from .layout import Column, DatasetSpec
from .reader import DatasetFile
from .validation import open_checked
from .writer import DatasetWriter, new_dataset

_BLOCK = 256
"""Rows in memory at a time."""
_MOST_BYTES = 32_000
"""HDF5 attributes hold 64 KB; of files that say more about themselves only the number is kept."""


def merge(
    paths: Sequence[Path], out: Path, progress: Callable[[int], None] = lambda frames: None
) -> tuple[int, int]:
    """Copy all episodes, file after file, to a new file at `out`; returns its episodes and frames.

    Extra columns are kept where all files have them, but for seeds: they mean nothing without the settings of
    their recording. `out` appears when it is complete; `progress` is told the frames that were copied.
    """
    if out.exists():
        raise UserError(f"{out}: is there already; choose another --out")
    with ExitStack() as inputs:
        files = [inputs.enter_context(open_checked(path)) for path in paths]
        spec = _spec(files)
        with new_dataset(out, spec) as writer:
            for file in files:
                columns = {name: file.column(name) for name in spec.columns}
                for episode in range(file.num_episodes):
                    copy_episode(file, episode, writer, columns)
                    progress(writer.num_frames)
            return writer.num_episodes, writer.num_frames


def copy_episode(
    file: DatasetFile, index: int, writer: DatasetWriter, columns: Mapping[str, NDArray[Any]]
) -> None:
    """Append one episode, block by block; `columns` are the writer's extra ones, over all rows of `file`."""
    start = int(file.ep_offset[index])
    end = start + int(file.ep_len[index])
    with writer.episode() as episode:
        for first in range(start, end, _BLOCK):
            rows = slice(first, min(first + _BLOCK, end))
            extra = {name: values[rows] for name, values in columns.items()}
            episode.add(file.frames(rows), file.action[rows], file.frame_valid[rows], **extra)


def _spec(files: Sequence[DatasetFile]) -> DatasetSpec:
    """What the files have in common. They must agree on all that a row means."""
    first = files[0]
    for file in files[1:]:
        for what, one, other in (
            ("vocabulary", first.vocabulary.name, file.vocabulary.name),
            ("frame size", f"{first.width}x{first.height}", f"{file.width}x{file.height}"),
            ("frame rate", f"{first.fps:g}", f"{file.fps:g}"),
            ("origin of actions", first.action_origin, file.action_origin),
        ):
            if one != other:
                raise UserError(f"{file.path}: its {what} is {other}, but {first.path} has {one}")
    names = [name for name in first.extra_columns if name != "seed"]
    shared = [name for name in names if all(_column(file, name) == _column(first, name) for file in files)]
    sources = dict.fromkeys(file.source for file in files)
    parts = [{"source": f.source, "episodes": f.num_episodes, "attributes": f.attributes} for f in files]
    fits = len(json.dumps(parts)) < _MOST_BYTES
    return DatasetSpec(
        vocabulary=first.vocabulary,
        height=first.height,
        width=first.width,
        fps=first.fps,
        source=" + ".join(sources),
        action_origin=first.action_origin,
        attributes={"merged": parts if fits else len(files)},
        columns={name: column for name in shared if (column := _column(first, name))},
    )


def _column(file: DatasetFile, name: str) -> Column | None:
    if name not in file.extra_columns:
        return None
    values = file.column(name)
    return Column(str(values.dtype), values.shape[1:])
