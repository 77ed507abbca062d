"""The windows of Appendix D: from a frame t, K steps into the future, the same for every compared method."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..controls import ActionEncoding
from ..data import WindowShape, open_checked, split_file, starts_in
from ..data.loader import WindowDataset, require_vocabulary
from ..data.windows import Validity
from ..errors import UserError
from ..model import Context, WorldModel
from .steps import step_vectors


@dataclass(frozen=True)
class WindowSample:
    """Rows of the frames t; the target of each lies `steps` model steps of `frameskip` rows later."""

    path: Path
    rows: NDArray[np.int64]
    steps: int
    frameskip: int

    def __len__(self) -> int:
        return len(self.rows)


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


def sample_windows(
    path: Path,
    count: int = 15,
    *,
    steps: int = 32,
    frameskip: int = 4,
    split: str = "test",
    seed: int = 42,
    validity: Validity = "strict",
    context: int = 32,
) -> WindowSample:
    """Draw windows without replacement.

    `endpoints` is Appendix D to the letter: t and the target frame are valid and of one episode. `strict` asks
    this of every row from `context` frames before t to the target.
    """
    lead_in = context - 1 if validity == "strict" else 0
    shape = WindowShape(lead_in + steps + 1, frameskip, validity)
    with open_checked(path) as file:
        episodes = split_file(file).part(split)
        rows = starts_in(file, shape, episodes) + lead_in * frameskip
    chosen = np.random.default_rng(seed).choice(rows, min(count, len(rows)), replace=False)
    return WindowSample(path, chosen, steps, frameskip)


def dataset_of(sample: WindowSample, model: WorldModel) -> WindowDataset:
    """The windows with the model's own context length in front, filled up where the episode is younger."""
    if model.encoding.frameskip != sample.frameskip:
        raise UserError(
            f"the model's frameskip is {model.encoding.frameskip}, the windows' {sample.frameskip}; "
            "compare models of one frameskip"
        )
    return WindowDataset(
        sample.path,
        model.encoding,
        sample.steps + 1,
        sample.rows,
        model.config.image_size,
        before=model.context_length - 1,
    )


def truth_of(sample: WindowSample, encoding: ActionEncoding) -> Truth:
    offsets = np.arange(-sample.frameskip, sample.steps * sample.frameskip)
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
    frames, steps = model.context_length, dataset.steps - 1
    return Case(Context(latents[:, :frames], actions[None, : len(actions) - steps]), latents[0, frames:])
