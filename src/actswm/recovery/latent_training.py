"""Train inverse dynamics on frozen latents: each frame is encoded once, then a small network learns from pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data import WindowShape, open_checked, split_file, starts_in
from ..data.loader import StepSampler, WindowDataset
from ..model import WorldModel
from ..results import Scores
from .calibration import best_thresholds, fit_calibration
from .idm_training import IdmTraining, action_loss, fit
from .latent_idm import LatentIdm
from .metrics import score_grouped

_CHUNK = 256
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Pairs:
    """What the network sees of N steps (N, 2 D), what was pressed (N, A), and each step's episode (N,)."""

    seen: Tensor
    actions: Tensor
    episode: NDArray[np.integer]


def train_latent_idm(
    data: Path,
    world: WorldModel,
    training: IdmTraining,
    progress: Progress = lambda what, done, total: None,
    frames: int | None = None,
) -> tuple[LatentIdm, Scores]:
    """The trained and calibrated model, and its scores on steps of the validation split.

    With `frames` it learns from no more of the training split than the first episodes that have as many.
    """
    torch.manual_seed(training.seed)
    model = LatentIdm.of(world).train()
    skip = model.encoding.frameskip
    with open_checked(data) as file:
        split = split_file(file)
        enough = np.cumsum(file.ep_len[split.train]) - file.ep_len[split.train] < (frames or file.num_frames)
        shape = WindowShape(2, skip)
        starts, held_out = (starts_in(file, shape, part) for part in (split.train[enough], split.validation))
        episode = file.episode_idx[held_out]
    learned = encoded(model, data, starts, np.zeros(len(starts), int), lambda *done: progress("latents", *done))
    checked = encoded(model, data, held_out, episode)
    _fit(model, learned, training, progress)
    model.eval()
    _calibrate(model, checked)
    apart = np.flatnonzero(held_out % skip == 0)
    labels, true = model.decided(model.actions(checked.seen[apart])), checked.actions[apart].numpy()
    return model, score_grouped(labels, true, model.encoding.vocabulary, episode[apart])


@torch.no_grad()
def encoded(
    model: LatentIdm,
    data: Path,
    starts: NDArray[np.integer],
    episode: NDArray[np.integer],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Pairs:
    """The steps that begin at `starts`; neighbouring steps share their frames' latents."""
    dataset = WindowDataset(data, model.encoding, 2, starts, model.world.image_size)
    seen, actions = [], []
    for first in range(0, len(starts), _CHUNK):
        index = np.arange(first, min(first + _CHUNK, len(starts)))
        pixels, true = dataset.read(index)
        rows = torch.from_numpy(starts[index, None] + model.encoding.frameskip * np.arange(2))
        seen.append(model.see(model.world.encode(pixels, rows))[:, 0])
        actions.append(true[:, -1])
        progress(int(index[-1]) + 1, len(starts))
    return Pairs(torch.cat(seen), torch.cat(actions), episode)


def _fit(model: LatentIdm, learned: Pairs, training: IdmTraining, progress: Progress) -> None:
    binary = torch.from_numpy(model.encoding.vocabulary.binary)
    spread = learned.actions.std(0, correction=0)
    model.scale.copy_(torch.where(binary | (spread == 0), 1.0, spread))
    model.mean.copy_(learned.seen.mean(0))
    model.std.copy_(learned.seen.std(0, correction=0) + 1e-6)
    sampler = StepSampler(len(learned.seen), training.batch, training.steps, training.seed)
    losses = (
        action_loss(model(learned.seen[chosen]), learned.actions[chosen], binary, model.scale).mean()
        for chosen in sampler
    )
    fit(model.layers.parameters(), training, losses, lambda step, loss: progress("training", step, training.steps))


@torch.no_grad()
def _calibrate(model: LatentIdm, checked: Pairs) -> None:
    buttons = torch.from_numpy(model.encoding.vocabulary.binary)
    logits, pressed = model(checked.seen)[:, buttons], checked.actions[:, buttons] > 0.5
    slope, offset = fit_calibration(logits, pressed)
    probability = (logits * slope + offset).sigmoid().numpy()
    model.slope[buttons], model.offset[buttons] = slope, offset
    model.threshold[buttons] = torch.from_numpy(best_thresholds(probability, pressed.numpy()))
