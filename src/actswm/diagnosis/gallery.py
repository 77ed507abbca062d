"""Recorded frames that stand in for predicted latents: the model has no decoder, but the nearest frame is a picture."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.loader import WindowDataset
from ..model import WorldModel


@dataclass(frozen=True)
class Gallery:
    """Recorded frames and their latents."""

    frames: WindowDataset
    latents: Tensor

    @staticmethod
    @torch.no_grad()
    def of(
        model: WorldModel,
        path: str | os.PathLike[str],
        rows: NDArray[np.integer],
        count: int,
        seed: int = 0,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Gallery:
        """At most `count` frames, drawn from `rows` of a file; `progress` hears how many of how many are encoded."""
        rows = np.sort(np.random.default_rng(seed).choice(rows, min(count, len(rows)), replace=False))
        frames = WindowDataset(path, model.encoding, 1, rows, model.config.image_size)
        latents = []
        for first in range(0, len(rows), 256):
            index = range(first, min(first + 256, len(rows)))
            latents.append(model.encode(frames.read(index)[0])[:, 0])
            progress(index[-1] + 1, len(rows))
        return Gallery(frames, torch.cat(latents))

    def nearest(self, latents: Tensor) -> NDArray[np.uint8]:
        """(n, D) -> the frame (n, h, w, 3) whose latent is nearest to each."""
        return self.frames.read(self.nearest_index(latents))[0][:, 0].numpy()

    def nearest_index(self, latents: Tensor, among: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """(n, D) -> numbers of the nearest frames (n,), all or those `among` which to choose."""
        distance = torch.cdist(latents, self.latents).cpu()
        if among is not None:
            distance[:, torch.from_numpy(~among)] = torch.inf
        return distance.argmin(1).numpy()
