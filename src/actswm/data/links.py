"""Columns that point to rows further up: what was recorded before, or in another look."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from .dataset import Dataset


def links(file: Dataset, column: str) -> NDArray[np.int64]:
    """How many rows further up each row points, which counts within its file: (frames,); 0 without the column."""
    rows = np.arange(file.num_frames)
    if column not in file.extra_columns:
        return np.zeros_like(rows)
    up = file.column(column)
    if up.shape != rows.shape or up.dtype.kind not in "iu" or ((up < 0) | (up > rows)).any():
        raise UserError(f"the column {column!r} does not hold how many rows further up to look; record the file again")
    return up.astype(np.int64)
