"""Put several dataset files of one vocabulary and frame size into one, or into a folder of shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..errors import UserError
from .agreement import Member, merged_spec, spec_of
from .dataset import Dataset
from .opening import open_checked
from .shard_writer import new_output
from .siblings import is_sibling
from .writer import DatasetWriter

_BLOCK = 256
"""Rows in memory at a time."""


def merge(
    paths: Sequence[Path],
    out: Path,
    progress: Callable[[int], None] = lambda frames: None,
    *,
    compression: str | None = None,
    shard_bytes: int | None = None,
) -> tuple[int, int]:
    """Copy all episodes, file after file, to a new file at `out`; returns its episodes and frames.

    Extra columns are kept where all files have them, but for seeds: they mean nothing without the settings of
    their recording. `out` appears when it is complete; `progress` is told the frames that were copied. With
    `shard_bytes` it is a folder of shards of about that size; a fork's siblings stay with the episode that they leave.
    """
    if out.exists():
        raise UserError(f"{out}: is there already; choose another --out")
    with ExitStack() as inputs:
        files = [inputs.enter_context(open_checked(path)) for path in paths]
        spec = merged_spec([Member(file.path, spec_of(file), file.num_episodes) for file in files])
        episodes = frames = 0
        with new_output(out, replace(spec, compression=compression), shard_bytes) as next_writer:
            for file in files:
                columns = {name: file.column(name) for name in spec.columns}
                siblings = is_sibling(file)
                for episode in range(file.num_episodes):
                    copy_episode(file, episode, next_writer(bool(siblings[episode])), columns)
                    episodes, frames = episodes + 1, frames + int(file.ep_len[episode])
                    progress(frames)
        return episodes, frames


def copy_episode(
    file: Dataset, index: int, writer: DatasetWriter, columns: Mapping[str, NDArray[Any]]
) -> None:
    """Append one episode, block by block; `columns` are the writer's extra ones, over all rows of `file`."""
    start = int(file.ep_offset[index])
    end = start + int(file.ep_len[index])
    with writer.episode() as episode:
        for first in range(start, end, _BLOCK):
            rows = slice(first, min(first + _BLOCK, end))
            extra = {name: values[rows] for name, values in columns.items()}
            episode.add(file.frames(rows), file.action[rows], file.frame_valid[rows], **extra)
