"""Sampled windows, for Appendix D: what was recorded in them, and what a model sees of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..controls import ActionEncoding
from ..data import WindowSample, open_checked
from ..data.loader import WindowDataset, require_vocabulary
from ..model import Context, WorldModel
from .steps import step_vectors


@dataclass(frozen=True)
class Truth:
    """What was recorded: step vectors (N, K, A) of the windows, and (N, A) of the step that led to each t."""

    actions: NDArray[np.float32]
    before: NDArray[np.float32]


@dataclass(frozen=True)
class Case:
    """One window as a model sees it: its context (B = 1), and the encoded future (K, D)."""

    context: Context
    future: Tensor


def truth_of(sample: WindowSample, encoding: ActionEncoding) -> Truth:
    offsets = np.arange(-sample.frameskip, sample.horizon * sample.frameskip)
    with open_checked(sample.path) as file:
        require_vocabulary(file, encoding)
        rows = sample.rows[:, None] + offsets
        first = file.ep_offset[file.episode_idx[sample.rows]][:, None]
        raw = np.where((rows >= first)[..., None], file.action[np.maximum(rows, 0)], 0)
    vectors = step_vectors(raw, encoding)
    return Truth(vectors[:, 1:], vectors[:, 0])


@torch.no_grad()
def load_case(dataset: WindowDataset, model: WorldModel, index: int) -> Case:
    pixels, actions = dataset[index]
    latents = model.encode(pixels[None])
    steps = dataset.steps - 1
    return Case(Context(latents[:, :-steps], actions[None, :-steps]), latents[0, -steps:])
