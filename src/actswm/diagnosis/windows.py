"""The windows that every compared model is judged on: the same starts, whatever its context length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data import WindowShape, open_checked, split_file, starts_in
from ..data.loader import WindowDataset
from ..model import Context, WorldModel


@dataclass(frozen=True)
class WindowSample:
    """Start rows of windows of `context` + `horizon` frames; frame `context` - 1 of each is t.

    `partner` names, for each window, another window whose recorded actions serve as a real alternative;
    `episode` is the one that it comes from.
    """

    path: Path
    starts: NDArray[np.int64]
    partner: NDArray[np.int64]
    episode: NDArray[np.int64]
    context: int
    horizon: int
    frameskip: int

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def episodes(self) -> int:
        """How many episodes the windows come from."""
        return len(np.unique(self.episode))

    def first(self, count: int) -> WindowSample:
        """The first windows; their partners are drawn among themselves again."""
        if count >= len(self):
            return self
        episode = self.episode[:count]
        drawn = partners(episode, np.random.default_rng(0))
        return replace(self, starts=self.starts[:count], partner=drawn, episode=episode)

    def dataset(self, model: WorldModel, future: bool = True) -> WindowDataset:
        """The windows as a model sees them: its last H context frames up to the same t, and the future."""
        skipped = self.context - min(self.context, model.context_length)
        return WindowDataset(
            self.path,
            model.encoding,
            self.context - skipped + (self.horizon if future else 0),
            self.starts + skipped * self.frameskip,
            model.config.image_size,
        )


@dataclass(frozen=True)
class EncodedCase:
    """A batch of encoded windows: the context up to t, the true future latents (B, K, D), and step actions
    (B, K, A') from t on: the recorded ones, and those that the partner window recorded."""

    context: Context
    future: Tensor
    recorded: Tensor
    shuffled: Tensor


def sample_windows(
    path: Path,
    count: int,
    *,
    split: str = "test",
    context: int = 32,
    horizon: int = 32,
    frameskip: int = 4,
    seed: int = 1234,
    split_seed: int = 3072,
) -> WindowSample:
    """Draw windows of a split without replacement; partners come from other episodes where there are several."""
    shape = WindowShape(context + horizon, frameskip)
    with open_checked(path) as file:
        episodes = split_file(file, split_seed).part(split)
        starts = starts_in(file, shape, episodes)
        rng = np.random.default_rng(seed)
        chosen = rng.choice(starts, min(count, len(starts)), replace=False)
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


def encoded_cases(sample: WindowSample, model: WorldModel, batch: int = 64) -> Iterator[EncodedCase]:
    """The sample in batches, as the model sees it."""
    dataset = sample.dataset(model)
    horizon = sample.horizon
    for first in range(0, len(sample), batch):
        index = np.arange(first, min(first + batch, len(sample)))
        pixels, actions = dataset.__getitems__(index.tolist())
        latents = model.encode(pixels)
        partner = torch.from_numpy(dataset.step_actions(sample.partner[index]))
        yield EncodedCase(
            context=Context(latents[:, :-horizon], actions[:, :-horizon]),
            future=latents[:, -horizon:],
            recorded=actions[:, -horizon:],
            shuffled=partner[:, -horizon:],
        )
