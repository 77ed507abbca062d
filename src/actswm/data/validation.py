"""Is this a sound dataset file? Every broken promise of the layout is a `UserError` that names it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ..errors import UserError
from .layout import ROW_COLUMNS
from .reader import DatasetFile


def validate(path: str | os.PathLike[str]) -> None:
    """Raise `UserError` unless the file keeps every promise of `layout`."""
    with DatasetFile(path) as file:
        for problem in _problems(file):
            raise UserError(f"{Path(path)}: {problem}")


def _problems(file: DatasetFile):  # type: ignore[no-untyped-def]
    """Yields in an order in which each check may rely on the ones before it."""
    rows = file.num_frames
    for name in (*ROW_COLUMNS[1:], *file.extra_columns):
        if len(file.column(name)) != rows:
            yield f"{name} has {len(file.column(name))} rows, pixels {rows}"
    if file.action.shape[1:] != (file.vocabulary.size,):
        yield f"action has {file.action.shape[1:]} controls, vocabulary {file.vocabulary.name} {file.vocabulary.size}"
    if rows == 0 or file.num_episodes == 0:
        yield "it holds no episode yet"

    lengths, offsets = file.ep_len.astype(np.int64), file.ep_offset
    if (
        (lengths < 1).any()
        or not np.array_equal(offsets, np.cumsum(lengths) - lengths)
        or lengths.sum() != rows
    ):
        yield "ep_len and ep_offset do not tile the rows"
    if not np.array_equal(file.episode_idx, np.repeat(np.arange(file.num_episodes), lengths)):
        yield "episode_idx does not follow ep_len: rows of an episode must be contiguous and in order"
    if not np.array_equal(file.step_idx, np.arange(rows) - np.repeat(offsets, lengths)):
        yield "step_idx does not count from 0 in each episode"
    boundary = np.zeros(rows, bool)
    boundary[offsets] = boundary[offsets + lengths - 1] = True
    if not (file.boundary_mask | ~boundary).all():
        yield "boundary_mask is not set on the first and last row of every episode"

    bad = np.flatnonzero(~np.isfinite(file.action).all(1))
    if len(bad):
        yield f"action is not finite in {len(bad)} rows, first in row {bad[0]}; drop or repair those rows"
    binary = file.action[:, file.vocabulary.binary]
    if binary.size and (binary.min() < 0 or binary.max() > 1):
        yield f"binary controls range from {binary.min():g} to {binary.max():g}, not 0 to 1"
