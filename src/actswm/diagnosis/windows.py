"""Sampled windows, encoded as a model sees them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..data import WindowSample
from ..data.loader import sampled_windows
from ..model import Context, WorldModel


@dataclass(frozen=True)
class EncodedCase:
    """A batch of encoded windows: the context up to t, the true future latents (B, K, D), and step actions
    (B, K, A') from t on: the recorded ones, and those that the partner window recorded."""

    context: Context
    future: Tensor
    recorded: Tensor
    shuffled: Tensor


def encoded_cases(sample: WindowSample, model: WorldModel, batch: int = 64) -> Iterator[EncodedCase]:
    """The sample in batches, as the model sees it."""
    dataset = sampled_windows(sample, model)
    horizon = sample.horizon
    for index in np.array_split(np.arange(len(sample)), range(batch, len(sample), batch)):
        pixels, actions = dataset.read(index)
        latents = model.encode(pixels)
        partner = torch.from_numpy(dataset.step_actions(sample.partner[index]))
        yield EncodedCase(
            context=Context(latents[:, :-horizon], actions[:, :-horizon]),
            future=latents[:, -horizon:],
            recorded=actions[:, -horizon:],
            shuffled=partner[:, -horizon:],
        )
