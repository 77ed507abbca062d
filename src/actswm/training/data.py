"""The windows of a run, as Lightning asks for them: after it knows which rank this process is."""

from __future__ import annotations

from pathlib import Path

import lightning as L
import numpy as np
from numpy.typing import NDArray
from torch.utils.data import DataLoader

from ..data import DatasetFile, WindowShape, split_episodes, starts_in
from ..data.loader import PlaceSampler, StepSampler, WindowDataset, window_loader
from ..errors import UserError
from .config import Config


class WindowData(L.LightningDataModule):
    """Training windows from step `start` on, and a fixed sample of validation windows."""

    def __init__(self, config: Config, path: Path, frames: int, start: int = 0) -> None:
        super().__init__()
        self.config = config
        self.start = start
        model = config.model
        shape = WindowShape(frames, model.frameskip, config.training.validity)  # type: ignore[arg-type]
        with DatasetFile(path) as file:
            split = split_episodes(file.num_episodes)  # the same for every seed: test episodes stay unseen
            if len(split.validation) == 0:
                raise UserError(
                    f"{path}: has {file.num_episodes} episodes; at least 3 are needed to hold some out"
                )
            starts = starts_in(file, shape, split.train), starts_in(file, shape, split.validation)
        self.training, self.validation = (
            WindowDataset(path, model.action_encoding, frames, part, model.image_size) for part in starts
        )

    def train_dataloader(self) -> DataLoader:
        training = self.config.training
        sampler = self._batches(self.training, training.steps, training.seed, self.start)
        return window_loader(self.training, sampler, training.workers)

    def validation_loader(self) -> DataLoader:
        training = self.config.training
        steps = max(1, min(training.validation_windows, len(self.validation)) // training.batch)
        return window_loader(self.validation, self._batches(self.validation, steps, seed=0, start=0))

    def _batches(self, windows: WindowDataset, steps: int, seed: int, start: int) -> PlaceSampler:
        dynamics = self.config.objective.dynamics
        places, rest = divmod(self.config.training.batch, dynamics.windows)
        if rest:
            raise UserError(
                f"training.batch {self.config.training.batch} is no multiple of "
                f"objective.dynamics.windows {dynamics.windows}"
            )
        anchors = StepSampler(len(windows), places, steps, seed, start, *self._rank())
        return PlaceSampler(anchors, dynamics.windows, dynamics.reach, windows.episode_start)

    def _rank(self) -> tuple[int, int]:
        return (self.trainer.global_rank, self.trainer.world_size) if self.trainer else (0, 1)

    def action_scale(self) -> NDArray[np.float32]:
        """Standard deviation of continuous controls in the training windows' first steps; 1 for binary ones."""
        encoding = self.training.encoding
        rows = np.unique(self.training.starts[:, None] + np.arange(encoding.frameskip))
        spread = self.training.actions_at(rows).std(0)
        return np.where(encoding.vocabulary.binary | (spread == 0), 1.0, spread).astype(np.float32)
