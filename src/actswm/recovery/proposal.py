"""What an inverse-dynamics model proposes for windows, in the form that a world model can judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..controls import ActionEncoding
from ..data import WindowSample
from .motion_idm import RAW, STEP, MotionIdm


@dataclass(frozen=True)
class Proposal:
    """Of K model steps: calibrated probabilities (K, A) of buttons (sums of continuous controls), and their detail.

    `decided` (K, A) are the model's own labels. `raw` (K, frameskip, A) says when within its step a button is down if
    it is pressed at all, and the values of continuous controls.
    """

    probability: NDArray[np.float32]
    decided: NDArray[np.float32]
    raw: NDArray[np.float32]

    def step_actions(self, vectors: Tensor, first: int, encoding: ActionEncoding) -> Tensor:
        """Vectors (..., W, A) of the steps from `first` on -> step actions (..., W, A').

        A key that goes down late in a step is not taken for one that is held all along.
        """
        steps = slice(first, first + vectors.shape[-2])
        binary = torch.from_numpy(encoding.vocabulary.binary)
        if encoding.kind == "sliding":
            sums = torch.from_numpy(self.probability[steps])
            return torch.where(binary, vectors, sums.to(vectors))
        raw = torch.from_numpy(self.raw[steps]).to(vectors)
        pressed = torch.where(binary, vectors[..., None, :], 1.0)
        return (pressed * raw).flatten(-2)


def propose(model: MotionIdm, sample: WindowSample) -> list[Proposal]:
    """One for each window of the sample."""
    skip, binary = model.config.frameskip, model.encoding.vocabulary.binary
    found = []
    for answers in model.window_answers(sample):
        steps = answers[::skip, STEP]
        down = model.decided(answers[:, RAW], RAW).reshape(-1, skip, len(binary))
        whole = ~(down > 0.5).any(1, keepdims=True)
        raw = np.where(binary, np.where(whole, 1.0, down), down)
        found.append(Proposal(steps, model.decided(steps, STEP), raw.astype(np.float32)))
    return found
