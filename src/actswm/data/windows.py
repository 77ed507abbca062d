"""Where windows may start, and which episodes they may come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from .dataset import Dataset

Validity = Literal["strict", "endpoints"]


@dataclass(frozen=True)
class WindowShape:
    """`steps` frames, `frameskip` raw rows apart.

    `strict`: one episode, every row inside valid, no boundary row strictly inside. `endpoints` (Appendix D
    to the letter): only the first and the last row must be valid and of one episode.
    """

    steps: int
    frameskip: int = 4
    validity: Validity = "strict"

    def __post_init__(self) -> None:
        if self.steps < 1 or self.frameskip < 1:
            raise UserError(
                f"a window needs at least one step and frameskip, not {self.steps} x {self.frameskip}"
            )
        if self.validity not in get_args(Validity):
            raise UserError(f"unknown validity {self.validity!r}; use strict or endpoints")

    @property
    def rows(self) -> int:
        """Raw rows from the first frame to the last, both included."""
        return (self.steps - 1) * self.frameskip + 1


def valid_starts(
    episode_idx: NDArray[np.integer],
    frame_valid: NDArray[np.bool_],
    boundary_mask: NDArray[np.bool_],
    shape: WindowShape,
) -> NDArray[np.int64]:
    """First rows of all valid windows, ascending."""
    last = len(episode_idx) - shape.rows
    if last < 0:
        return np.zeros(0, np.int64)
    start = np.arange(last + 1)
    end = start + shape.rows - 1
    valid = frame_valid.astype(bool)
    good = (episode_idx[start] == episode_idx[end]) & valid[start] & valid[end]
    if shape.validity == "strict":
        invalid_before = np.concatenate([[0], np.cumsum(~valid)])
        boundary_before = np.concatenate([[0], np.cumsum(boundary_mask.astype(bool))])
        good &= invalid_before[end + 1] == invalid_before[start]
        inner_end = np.maximum(end, start + 1)
        good &= boundary_before[inner_end] == boundary_before[start + 1]
    return start[good]


def starts_in(file: Dataset, shape: WindowShape, episodes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Valid starts inside the given episodes; an error says so if there is none."""
    starts = valid_starts(file.episode_idx, file.frame_valid, file.boundary_mask, shape)
    starts = starts[np.isin(file.episode_idx[starts], episodes)]
    if len(starts) == 0:
        longest = file.ep_len[episodes].max() if len(episodes) else 0
        raise UserError(
            f"{file.path}: no valid window of {shape.steps} steps x frameskip {shape.frameskip} ({shape.rows} rows) "
            f"in {len(episodes)} episodes (the longest has {longest} rows); record longer ones or shorten the window"
        )
    return starts


@dataclass(frozen=True)
class Split:
    """Episode numbers of each part."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]

    def part(self, name: str) -> NDArray[np.int64]:
        """`all` is for recordings made to evaluate on, from which nothing was trained."""
        if name == "all":
            return np.sort(np.concatenate([self.train, self.validation, self.test]))
        if name not in ("train", "validation", "test"):
            raise UserError(f"unknown split {name!r}; use train, validation, test or all")
        return getattr(self, name)


def split_episodes(num_episodes: int, seed: int = 3072, held_out: float = 0.05) -> Split:
    """90/5/5 by episode: windows of one episode never appear in two parts.

    Validation and test get at least one episode each as soon as there are three.
    """
    order = np.random.default_rng(seed).permutation(num_episodes)
    each = max(1, round(num_episodes * held_out)) if num_episodes >= 3 else 0
    return Split(
        train=np.sort(order[2 * each :]),
        validation=np.sort(order[:each]),
        test=np.sort(order[each : 2 * each]),
    )
