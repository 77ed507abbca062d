"""Siblings in a dataset file: episodes that repeat the last rows of another one before they go their own way.

The column `repeats` says for each row how many rows further up the very same frame was recorded first (0: here). It
counts within the file, so it survives merging. Files without the column have no siblings.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .dataset import Dataset
from .links import links
from .twins import TWIN
from .windows import Split, split_episodes

REPEATS = "repeats"


def first_shown(file: Dataset) -> NDArray[np.int64]:
    """For each row the row that showed its frame first: (frames,)."""
    return np.arange(file.num_frames) - links(file, REPEATS)


def moments(file: Dataset) -> NDArray[np.int64]:
    """For each row the first row that shows its moment, in whatever look: (frames,)."""
    return first_shown(file) - links(file, TWIN)


def is_sibling(file: Dataset) -> NDArray[np.bool_]:
    """For each episode: does it begin with rows of another one?"""
    return first_shown(file)[file.ep_offset] != file.ep_offset


def split_file(file: Dataset, seed: int = 3072) -> Split:
    """Train, validation and test episodes; siblings go where the episode goes that they leave, twins with the first."""
    first = moments(file)[file.ep_offset]
    played = np.flatnonzero(first == file.ep_offset)
    split = split_episodes(len(played), seed)
    origin = file.episode_idx[first]
    parts = (np.flatnonzero(np.isin(origin, played[part])) for part in (split.train, split.validation, split.test))
    return Split(*parts)


def actions_before(file: Dataset, row: int) -> NDArray[np.float32]:
    """All raw actions from the reset to the state that `row` shows, those before a fork included."""
    begin = int(file.ep_offset[file.episode_idx[row]])
    shown = first_shown(file)
    if shown[begin] == begin:
        return file.action[begin:row]
    if shown[row] != row:
        return actions_before(file, int(shown[row]))
    fork = begin + int(np.flatnonzero(shown[begin : row + 1] != np.arange(begin, row + 1))[-1])
    return np.concatenate([actions_before(file, int(shown[fork])), file.action[fork:row]])
