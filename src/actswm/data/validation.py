"""Is this a sound dataset file? Every broken promise of the layout is a `UserError` that names it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from .reader import DatasetFile

BLOCK = 2**18
"""Rows that are checked at a time: a broken promise is found before a large file is in memory."""


def open_file(path: str | os.PathLike[str], *, may_be_empty: bool = False) -> DatasetFile:
    """Open one dataset file that keeps every promise of `layout`.

    `may_be_empty`: for an output to be continued, in which there may be no episode yet.
    """
    file = DatasetFile(path)
    try:
        if file.num_frames or not may_be_empty:
            state = Path(path).stat()
            _check(Path(path), (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns))
    except BaseException:
        file.close()
        raise
    return file


@lru_cache(maxsize=64)
def _check(path: Path, state: tuple[int, ...]) -> None:
    """Once for each state of the file: a command opens it several times."""
    with DatasetFile(path) as file:
        for problem in _problems(file):
            raise UserError(f"{path}: {problem}")


def _problems(file: DatasetFile) -> Iterator[str]:
    """Yields in an order in which each check may rely on the ones before it."""
    rows = file.num_frames
    if rows == 0 or file.num_episodes == 0:
        yield "it holds no episode yet"
    offsets = file.ep_offset
    tiled = 0
    for first in range(0, file.num_episodes, BLOCK):
        lengths = file.column("ep_len", slice(first, first + BLOCK)).astype(np.int64)
        if (lengths < 1).any() or (lengths > rows).any():
            yield "ep_len and ep_offset do not tile the rows"
        ends = tiled + np.cumsum(lengths)
        if not np.array_equal(offsets[first : first + BLOCK], ends - lengths):
            yield "ep_len and ep_offset do not tile the rows"
        tiled = int(ends[-1])
    if tiled != rows:
        yield "ep_len and ep_offset do not tile the rows"
    for first in range(0, rows, BLOCK):
        yield from _problems_of_rows(file, slice(first, min(first + BLOCK, rows)), offsets)


def _problems_of_rows(file: DatasetFile, block: slice, offsets: NDArray[np.int64]) -> Iterator[str]:
    row = np.arange(block.start, block.stop)
    episode = np.searchsorted(offsets, row, side="right") - 1
    if not np.array_equal(file.column("episode_idx", block), episode):
        yield "episode_idx does not follow ep_len: rows of an episode must be contiguous and in order"
    if not np.array_equal(file.column("step_idx", block), row - offsets[episode]):
        yield "step_idx does not count from 0 in each episode"
    first = row == offsets[episode]
    last = row + 1 == np.append(offsets, file.num_frames)[episode + 1]
    if not file.column("boundary_mask", block)[first | last].all():
        yield "boundary_mask is not set on the first and last row of every episode"
    with np.errstate(over="ignore"):
        action = file.column("action", block).astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(action).all(1))
    if len(bad):
        yield (
            f"action is not finite in {len(bad)} rows, first in row {block.start + bad[0]}; "
            "drop or repair those rows"
        )
    binary = action[:, file.vocabulary.binary]
    if binary.size and (binary.min() < 0 or binary.max() > 1):
        yield f"binary controls range from {binary.min():g} to {binary.max():g}, not 0 to 1"
