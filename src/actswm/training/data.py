"""The windows of a run, as Lightning asks for them: after it knows which rank this process is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import lightning as L
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader

from ..controls import ActionEncoding
from ..data import WindowShape, open_checked, split_file, starts_in
from ..data.loader import PlaceSampler, SideBySide, StepSampler, WindowDataset, WithTwins, window_loader
from ..data.siblings import first_shown, moments
from ..data.twins import twins_of
from ..errors import UserError
from .config import Config


class TrainingWindows(WindowDataset):
    """Windows that also say where in the recording their frames, and their moments, were shown first: rows (B, n).

    `place` (N,) is the same for windows that can be neighbours: those of an episode, and those of a fork's siblings.
    `siblings` (N,) tells which are the latter: windows whose first frame another episode has shown. `twins` (N,) are
    the windows that show the same moments in another look, in files that have such.
    """

    def __init__(self, path: Path, encoding: ActionEncoding, steps: int, starts: NDArray, image_size: int) -> None:
        super().__init__(path, encoding, steps, starts, image_size)
        with open_checked(path) as file:
            self._shown = first_shown(file)
            self._moments = moments(file)
        self.siblings = self._shown[self.starts] != self.starts
        key = np.where(self.siblings, self._shown[self.starts], self.episode_start)
        new = np.flatnonzero((key[1:] != key[:-1]) | (self.siblings[1:] != self.siblings[:-1])) + 1
        self.place = np.searchsorted(new, np.arange(len(key)), "right")
        self.twins = twins_of(self._moments[self.starts])

    def __getitems__(self, indices: Sequence[int]) -> tuple[Tensor, ...]:
        rows = self.starts[np.asarray(indices), None] + self.encoding.frameskip * np.arange(self.steps)
        return *self.read(indices), torch.from_numpy(self._shown[rows]), torch.from_numpy(self._moments[rows])


class WindowData(L.LightningDataModule):
    """Training windows from step `start` on, and a fixed sample of validation windows."""

    def __init__(self, config: Config, path: Path, frames: int, start: int = 0) -> None:
        super().__init__()
        self.config = config
        self.start = start
        model = config.model
        shape = WindowShape(frames, model.frameskip, config.training.validity)  # type: ignore[arg-type]
        with open_checked(path) as file:
            split = split_file(file)  # the same for every seed: test episodes stay unseen
            if len(split.validation) == 0:
                raise UserError(
                    f"{path}: has {file.num_episodes} episodes; at least 3 are needed to hold some out"
                )
            starts = starts_in(file, shape, split.train), starts_in(file, shape, split.validation)
        self.training, self.validation = (
            TrainingWindows(path, model.action_encoding, frames, part, model.image_size) for part in starts
        )

    def train_dataloader(self) -> DataLoader:
        training = self.config.training
        sampler = self._batches(self.training, training.steps, training.seed, self.start)
        device = self.trainer.strategy.root_device if self.trainer else torch.device("cpu")
        return window_loader(self.training, sampler, training.workers, pin=device.type == "cuda")

    def validation_loader(self) -> DataLoader:
        training = self.config.training
        steps = max(1, min(training.validation_windows, len(self.validation)) // training.batch)
        return window_loader(self.validation, self._batches(self.validation, steps, seed=0, start=0))

    def _batches(self, windows: TrainingWindows, steps: int, seed: int, start: int) -> SideBySide:
        place = self.config.training.place
        places, rest = divmod(self.config.training.batch, place.windows)
        if rest:
            raise UserError(
                f"training.batch {self.config.training.batch} is no multiple of "
                f"training.place.windows {place.windows}"
            )
        forks = round(places * place.siblings) if windows.siblings.any() else 0
        twins = place.twins and place.windows % 2 == 0 and (windows.twins != np.arange(len(windows))).any()
        parts: list[PlaceSampler | WithTwins] = []
        for count, forking in ((places - forks, False), (forks, True)):
            if count:
                among = np.flatnonzero(windows.siblings == forking)
                anchors = StepSampler(len(among), count, steps, seed, start, *self._rank())
                groups = PlaceSampler(anchors, place.windows, place.reach, windows.place, among, forking)
                parts.append(WithTwins(groups, windows.twins) if twins else groups)
        return SideBySide(*parts)

    def _rank(self) -> tuple[int, int]:
        return (self.trainer.global_rank, self.trainer.world_size) if self.trainer else (0, 1)

    def action_scale(self) -> NDArray[np.float32]:
        """Standard deviation of continuous controls in the training windows' first steps; 1 for binary ones."""
        encoding = self.training.encoding
        rows = np.unique(self.training.starts[:, None] + np.arange(encoding.frameskip))
        spread = self.training.actions_at(rows).std(0)
        return np.where(encoding.vocabulary.binary | (spread == 0), 1.0, spread).astype(np.float32)
