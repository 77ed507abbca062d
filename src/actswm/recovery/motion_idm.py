"""Inverse dynamics that sees the motion: all raw frames around a step in, what was pressed in each raw step out.

Not causal, since the video is there: convolutions over time look as far ahead as back. Two answers for every raw
step t: what was pressed in t, and what in any of the `frameskip` raw steps from t on, the model step of recovery.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from ..controls import ActionEncoding, vocabulary_of
from ..data import WindowSample, open_checked
from ..data.frames import FrameReader
from ..data.loader import require_vocabulary
from ..errors import UserError
from .domain import STRETCH, Domain
from .idm_file import write_idm
from .motion import LOOKS, MotionGrid, MotionMeter

RAW, STEP = 0, 1
_CLIP = 8.0
_LONGEST = 64


@dataclass(frozen=True)
class MotionIdmConfig:
    vocabulary: str = "keys14"
    frameskip: int = 4
    image_size: int = 64
    cells: int = 8
    width: int = 128
    dilations: list[int] = field(default_factory=lambda: [1, 2, 4, 1, 2])
    kind: str = "motion"

    def __post_init__(self) -> None:
        if not all(1 <= dilation <= _LONGEST for dilation in self.dilations):
            raise UserError(f"an idm's dilations lie between 1 and {_LONGEST}, not {self.dilations}")

    @property
    def encoding(self) -> ActionEncoding:
        return ActionEncoding(vocabulary_of(self.vocabulary), "sliding", self.frameskip)

    @property
    def grid(self) -> MotionGrid:
        return MotionGrid(self.image_size, self.cells)


SIZES: Mapping[str, Mapping[str, Any]] = {
    "small": {},
    "paper": {"image_size": 128, "cells": 16, "width": 512, "dilations": [1, 2, 4, 8, 1, 2, 4, 8]},
}
"""`small` trains in minutes on one thread; `paper` takes the paper's frames of 128 px."""


@dataclass(frozen=True)
class MotionLabels:
    """Of T raw steps: calibrated probabilities (T, A) of buttons (values of continuous controls), and the labels.

    `confidence` (T,): the mean probability that a label is right, over the controls in use. `off_domain` (T,): above 1
    the video is unlike what the model was trained on.
    """

    probability: NDArray[np.float32]
    action: NDArray[np.float32]
    confidence: NDArray[np.float32]
    off_domain: NDArray[np.float32]


class _Block(nn.Module):
    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.over_time = nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation)
        self.out = nn.Conv1d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.out(F.relu(self.over_time(F.relu(self.norm(x)))))


class MotionIdm(nn.Module):
    mean: Tensor
    std: Tensor
    scale: Tensor
    """Standard deviation of each continuous control, of a raw step and of a model step (2, A); 1 for binary ones."""
    slope: Tensor
    offset: Tensor
    threshold: Tensor
    in_use: Tensor
    """Buttons that the training split both presses and leaves alone (A,)."""

    def __init__(self, config: MotionIdmConfig) -> None:
        super().__init__()
        self.config, self.encoding, self.grid = config, config.encoding, config.grid
        controls, inputs = self.encoding.vocabulary.size, self.grid.size - LOOKS
        self.enter = nn.Conv1d(inputs, config.width, 1)
        self.blocks = nn.ModuleList(_Block(config.width, dilation) for dilation in config.dilations)
        self.norm = nn.BatchNorm1d(config.width)
        self.drop = nn.Dropout(0.1)
        self.leave = nn.Conv1d(config.width, 2 * controls, 1)
        self.domain = Domain(self.grid)
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("std", torch.ones(inputs))
        for name, value in (("scale", 1.0), ("slope", 1.0), ("offset", 0.0), ("threshold", 0.5)):
            self.register_buffer(name, torch.full((2, controls), value))
        self.register_buffer("in_use", torch.ones(controls, dtype=torch.bool))

    @property
    def reach(self) -> int:
        """Raw steps before and after that an answer depends on."""
        return max(sum(self.config.dilations), STRETCH)

    def forward(self, motion: Tensor) -> Tensor:
        """Figures of raw steps (B, T, size) -> (B, T, 2, A): logits of buttons, scaled continuous controls."""
        x = ((motion[..., :-LOOKS] - self.mean) / self.std).clamp(-_CLIP, _CLIP)
        x = self.enter(x.transpose(1, 2))
        for block in self.blocks:
            x = block(x)
        out = self.leave(self.drop(F.relu(self.norm(x))))
        return out.transpose(1, 2).unflatten(2, (2, -1))

    @torch.no_grad()
    def answers(self, motion: NDArray[np.float32]) -> NDArray[np.float32]:
        """Figures (T, size) of one stretch of video -> (T, 2, A): calibrated probabilities, values of the others."""
        out = self(torch.from_numpy(motion)[None])[0]
        binary = torch.from_numpy(self.encoding.vocabulary.binary)
        answers = torch.where(binary, (out * self.slope + self.offset).sigmoid(), out * self.scale)
        if not answers.isfinite().all():
            raise UserError("the idm's weights are so large that its answers are no numbers; train another")
        return answers.numpy()

    def decided(self, answers: NDArray[np.float32], kind: int) -> NDArray[np.float32]:
        """Answers of one kind (..., A) -> buttons 0 or 1."""
        pressed = answers > self.threshold[kind].numpy()
        return np.where(self.encoding.vocabulary.binary, pressed, answers).astype(np.float32)

    def label(self, motion: NDArray[np.float32]) -> MotionLabels:
        """What was pressed in each raw step (T, size) of one stretch of video."""
        probability = self.answers(motion)[:, RAW]
        action = self.decided(probability, RAW)
        right = np.where(action > 0.5, probability, 1 - probability)[:, self.in_use.numpy()]
        confidence = right.mean(1) if right.shape[1] else np.ones(len(motion))
        return MotionLabels(probability, action, confidence.astype(np.float32), self.domain.score(motion))

    def predict(self, sample: WindowSample) -> NDArray[np.float32]:
        """The actions (N, K, A) of sampled windows."""
        return self.decided(self.window_answers(sample)[:, :: self.config.frameskip, STEP], STEP)

    def window_answers(self, sample: WindowSample) -> NDArray[np.float32]:
        """Answers (N, K * frameskip, 2, A) for the raw steps of windows; frames around are seen where there are any."""
        skip = self.config.frameskip
        if sample.frameskip != skip:
            raise UserError(f"the idm's frameskip is {skip}, the windows' {sample.frameskip}; train another")
        with open_checked(sample.path) as file:
            require_vocabulary(file, self.encoding)
            first = np.repeat(file.ep_offset, file.ep_len)[sample.rows]
            last = first + np.repeat(file.ep_len, file.ep_len)[sample.rows]
        frames = FrameReader.of(sample.path)
        windows = []
        for row, low, high in zip(sample.rows, first, last):
            begin = max(row - self.reach, low)
            end = min(row + sample.horizon * skip + self.reach + 1, high)
            answers = self.answers(read_motion(frames, self.grid, begin, end))
            windows.append(answers[row - begin :][: sample.horizon * skip])
        return np.stack(windows)

    def save(self, folder: Path, provenance: Mapping[str, Any]) -> None:
        write_idm(folder, self.config, self.state_dict(), provenance)


_READ = 256


def read_motion(frames: FrameReader, grid: MotionGrid, begin: int, end: int) -> NDArray[np.float32]:
    """The frames begin .. end - 1 -> figures (end - begin - 1, size) of the raw steps between them."""
    meter, parts = MotionMeter(grid), []
    for first in range(begin, end, _READ):
        rows = np.arange(first, min(first + _READ, end))
        pixels = np.empty((len(rows), *frames.shape), np.uint8)
        frames.read(rows, pixels)
        parts.append(meter.measure(pixels))
    return np.concatenate(parts)
