"""Train the inverse-dynamics model that sees the motion, then calibrate it on the validation split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..controls import Vocabulary
from ..data import Dataset, WindowShape, open_checked, split_file, starts_in
from ..data.frames import FrameReader
from ..data.loader import StepSampler, require_vocabulary
from ..results import Scores
from .calibration import best_thresholds, fit_calibration
from .domain import described
from .idm_training import IdmTraining, action_loss, fit
from .motion import LOOKS, mirror
from .motion_idm import RAW, STEP, MotionIdm, MotionIdmConfig, read_motion
from .motion_scoring import Answered, scores_of
from .steps import step_vectors

_WINDOW = 64
"""Raw steps of a training window."""
_OPPOSITE = (("A", "D"), ("Turn_L", "Turn_R"), ("left", "right"))
_TURNED = ("yaw",)


@dataclass(frozen=True)
class Measured:
    """The raw steps of some episodes: figures (N, size), actions of the raw and the model step (N, 2, A).

    `row` (N,) is each step's row in the file. A model step that would end beyond the episode's last frame has NaN.
    """

    motion: NDArray[np.float32]
    actions: NDArray[np.float32]
    row: NDArray[np.int64]


def train_motion_idm(
    data: Path,
    config: MotionIdmConfig,
    training: IdmTraining,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
    frames: int | None = None,
) -> tuple[MotionIdm, Scores]:
    """The trained and calibrated model, and its scores on the validation split's model steps.

    With `frames` it learns from no more of the training split than the first episodes that have as many.
    """
    with open_checked(data) as file:
        require_vocabulary(file, config.encoding)
        split = split_file(file)
        enough = np.cumsum(file.ep_len[split.train]) - file.ep_len[split.train] < (frames or file.num_frames)
        episodes = split.train[enough]
        window = int(min(_WINDOW, file.ep_len[episodes].max(initial=2) - 1))
        starts = starts_in(file, WindowShape(window + 1, 1), episodes)
        held_out_rows = starts_in(file, WindowShape(config.frameskip + 1, 1), split.validation)
        torch.manual_seed(training.seed)
        model = MotionIdm(config).train()
        learned = measure(file, episodes, model, lambda *done: progress("optical flow", *done))
        held_out = measure(file, split.validation, model)
    _prepare(model, learned)
    place = np.full(int(learned.row.max()) + 2, -1)
    place[learned.row] = np.arange(len(learned.row))
    _fit(model, learned, place[starts], window, training, progress)
    model.eval()
    kept = np.isin(held_out.row, held_out_rows)
    answered = answer(model, held_out)
    _calibrate(model, answered, kept)
    model.domain.fit(described(learned.motion, model.grid), described(held_out.motion, model.grid))
    scored = answer(model, held_out).of(kept & np.isin(held_out.row, _every(held_out_rows, config.frameskip)))
    return model, scores_of(model, scored, STEP)


def measure(
    file: Dataset,
    episodes: NDArray[np.integer],
    model: MotionIdm,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Measured:
    """The raw steps of whole episodes, one behind the other; an episode's last frame begins none."""
    frames, skip = FrameReader.of(file), model.config.frameskip
    motion, actions, rows = [], [], []
    total, done = int(file.ep_len[episodes].sum()), 0
    for episode in episodes:
        first, length = int(file.ep_offset[episode]), int(file.ep_len[episode])
        if length > skip:
            motion.append(read_motion(frames, model.grid, first, first + length))
            raw = file.action[first : first + length - 1]
            windows = np.lib.stride_tricks.sliding_window_view(raw, skip, 0).swapaxes(1, 2)
            steps = np.full_like(raw, np.nan, np.float32)
            steps[: len(windows)] = step_vectors(windows, model.encoding)[:, 0]
            actions.append(np.stack([raw, steps], 1))
            rows.append(np.arange(first, first + length - 1))
        done += length
        progress(done, total)
    return Measured(np.concatenate(motion), np.concatenate(actions), np.concatenate(rows))


def answer(model: MotionIdm, measured: Measured) -> Answered:
    """The model's answers in whole episodes, beside what was recorded."""
    breaks = np.flatnonzero(np.diff(measured.row) != 1) + 1
    parts = [model.answers(part) for part in np.split(measured.motion, breaks)]
    episode = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return Answered(np.concatenate(parts), measured.actions, episode)


def _every(rows: NDArray[np.integer], skip: int) -> NDArray[np.integer]:
    """Every `skip`th row, so that model steps do not overlap."""
    return rows[rows % skip == 0]


def _prepare(model: MotionIdm, learned: Measured) -> None:
    inputs = learned.motion[:, :-LOOKS]
    model.mean.copy_(torch.from_numpy(inputs.mean(0)))
    model.std.copy_(torch.from_numpy(inputs.std(0) + 0.05))
    binary = model.encoding.vocabulary.binary
    spread = np.nanstd(learned.actions, 0)
    model.scale.copy_(torch.from_numpy(np.where(binary | (spread == 0), 1, spread)))
    share = (learned.actions[:, RAW] > 0.5).mean(0)
    model.in_use.copy_(torch.from_numpy(binary & (share > 0) & (share < 1)))


def _fit(
    model: MotionIdm,
    learned: Measured,
    starts: NDArray[np.integer],
    window: int,
    training: IdmTraining,
    progress: Callable[[str, int, int], None],
) -> None:
    motion, actions = torch.from_numpy(learned.motion), torch.from_numpy(learned.actions)
    binary = torch.from_numpy(model.encoding.vocabulary.binary)
    known = torch.ones(2, window)
    known[STEP, window - model.config.frameskip + 1 :] = 0
    flip = _Mirror(model)
    sampler = StepSampler(len(starts), training.batch, training.steps, training.seed)
    coin = torch.Generator().manual_seed(training.seed)

    def loss(chosen: list[int]) -> Tensor:
        rows = torch.from_numpy(starts[chosen][:, None] + np.arange(window))
        seen, true = flip(motion[rows], actions[rows].nan_to_num(), torch.rand(len(rows), generator=coin) < 0.5)
        return (action_loss(model(seen), true, binary, model.scale).mean(3) * known.T).mean()

    losses = map(loss, sampler)
    fit(model.parameters(), training, losses, lambda step, loss: progress("training", step, training.steps))


class _Mirror:
    """A mirrored video was played with left and right exchanged: twice the data, and no side is favoured."""

    def __init__(self, model: MotionIdm) -> None:
        order, signs = mirror(model.grid)
        self.order, self.signs = torch.from_numpy(order), torch.from_numpy(signs)
        swapped, turned = opposite(model.encoding.vocabulary)
        self.controls, self.turned = torch.from_numpy(swapped), torch.from_numpy(turned)

    def __call__(self, motion: Tensor, actions: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
        motion, actions = motion.clone(), actions.clone()
        motion[which] = motion[which][..., self.order] * self.signs
        actions[which] = actions[which][..., self.controls] * self.turned
        return motion, actions


def opposite(vocabulary: Vocabulary) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The order and the signs (A,) that turn an action into its mirror image."""
    order, signs = np.arange(vocabulary.size), np.ones(vocabulary.size, np.float32)
    for left, right in _OPPOSITE:
        if left in vocabulary.names and right in vocabulary.names:
            pair = [vocabulary.index(left), vocabulary.index(right)]
            order[pair] = pair[::-1]
    for name in set(_TURNED) & set(vocabulary.names):
        signs[vocabulary.index(name)] = -1
    return order, signs


def _calibrate(model: MotionIdm, answered: Answered, kept: NDArray[np.bool_]) -> None:
    """Slope, offset and threshold of every button, from the answers of a model that has none yet."""
    binary = model.encoding.vocabulary.binary
    for kind in (RAW, STEP):
        chosen = kept & np.isfinite(answered.recorded[:, kind]).all(1)
        guessed = answered.answers[chosen, kind][:, binary].astype(np.float64).clip(1e-7, 1 - 1e-7)
        pressed = answered.recorded[chosen, kind][:, binary] > 0.5
        logits = torch.from_numpy(np.log(guessed / (1 - guessed))).float()
        slope, offset = fit_calibration(logits, torch.from_numpy(pressed))
        threshold = best_thresholds((logits * slope + offset).sigmoid().numpy(), pressed)
        buttons = torch.from_numpy(binary)
        model.slope[kind, buttons] = slope
        model.offset[kind, buttons] = offset
        model.threshold[kind, buttons] = torch.from_numpy(threshold)
