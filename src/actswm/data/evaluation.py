"""The windows that every compared model is judged on: from the same frames t, whatever its context length."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..dataset_paths import AnyDataset, dataset_path
from .opening import open_checked
from .siblings import split_file
from .windows import Validity, WindowShape, starts_in


@dataclass(frozen=True)
class WindowSample:
    """Rows of the frames t. A model sees at most `context` frames up to t, and predicts `horizon` steps after it.

    `partner` names, for each window, another window whose recorded actions serve as a real alternative;
    `episode` is the one that it comes from.
    """

    path: Path
    rows: NDArray[np.int64]
    partner: NDArray[np.int64]
    episode: NDArray[np.int64]
    context: int
    horizon: int
    frameskip: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def episodes(self) -> int:
        """How many episodes the windows come from."""
        return len(np.unique(self.episode))

    def first(self, count: int) -> WindowSample:
        """The first windows; their partners are drawn among themselves again."""
        if count >= len(self):
            return self
        episode = self.episode[:count]
        return replace(
            self, rows=self.rows[:count], partner=partners(episode, np.random.default_rng(0)), episode=episode
        )


def sample_windows(
    data: AnyDataset,
    count: int,
    *,
    split: str = "test",
    context: int = 32,
    horizon: int = 32,
    frameskip: int = 4,
    seed: int = 1234,
    validity: Validity = "strict",
) -> WindowSample:
    """Draw windows of a split without replacement; partners come from other episodes where there are several.

    `strict` asks every row from `context` frames before t to the last to be valid and of one episode. `endpoints` is
    Appendix D to the letter: only t and the last frame.
    """
    before = context - 1 if validity == "strict" else 0
    shape = WindowShape(before + 1 + horizon, frameskip, validity)
    rng = np.random.default_rng(seed)
    path = dataset_path(data)
    with open_checked(path) as file:
        rows = starts_in(file, shape, split_file(file).part(split)) + before * frameskip
        chosen = rng.choice(rows, min(count, len(rows)), replace=False)
        episode = file.episode_idx[chosen].astype(np.int64)
    return WindowSample(path, chosen, partners(episode, rng), episode, context, horizon, frameskip)


def partners(episode: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.int64]:
    """For each window another one, from another episode where there is one."""
    everyone = np.arange(len(episode))
    partner = np.empty(len(episode), np.int64)
    for i in everyone:
        others = everyone[episode != episode[i]]
        others = others if len(others) else everyone[everyone != i]
        partner[i] = rng.choice(others) if len(others) else i
    return partner
