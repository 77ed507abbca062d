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
        training, dynamics = self.config.training, self.config.objective.dynamics
        anchors = StepSampler(
            len(self.training),
            training.batch // dynamics.windows,
            training.steps,
            training.seed,
            self.start,
            *self._rank(),
        )
        sampler = PlaceSampler(anchors, dynamics.windows, dynamics.reach, self.training.episode_start)
        return window_loader(self.training, sampler, training.workers)

    def validation_loader(self) -> DataLoader:
        batch = self.config.training.batch
        steps = max(1, min(self.config.training.validation_windows, len(self.validation)) // batch)
        sampler = StepSampler(len(self.validation), batch, steps, 0, 0, *self._rank())
        return window_loader(self.validation, sampler)

    def _rank(self) -> tuple[int, int]:
        return (self.trainer.global_rank, self.trainer.world_size) if self.trainer else (0, 1)

    def action_scale(self) -> NDArray[np.float32]:
        """Standard deviation of continuous controls in the training windows' first steps; 1 for binary ones."""
        encoding = self.training.encoding
        rows = np.unique(self.training.starts[:, None] + np.arange(encoding.frameskip))
        spread = self.training.actions_at(rows).std(0)
        return np.where(encoding.vocabulary.binary | (spread == 0), 1.0, spread).astype(np.float32)
