"""Where in the reference is an episode? The paper goes by the clock; an episode that began further away is behind it.

By sight, the place moves on monotonically to the reference frame that looks most like what is seen, among the next few,
with the clock as prior: where nothing tells the frames apart, one step a chunk.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..errors import UserError

PHASES = ("clock", "sight")
AHEAD = 3
"""Frames that one chunk may move on, at most."""
PRIOR = 0.5
"""Cost of one step off the clock's, in squared distances between neighbouring frames of the reference."""


class Phase:
    """The step of a reference (T + 1, D) that an episode has reached."""

    def __init__(self, reference: Tensor, kind: str = "clock") -> None:
        if kind not in PHASES:
            raise UserError(f"unknown phase {kind!r}; known: {', '.join(PHASES)}")
        reference = reference.cpu()
        self._reference, self._kind = reference, kind
        self._scale = reference.diff(dim=0).square().sum(-1).mean().clamp_min(1e-12) if len(reference) > 1 else 1.0
        self._step: int | None = None

    def after(self, latent: Tensor) -> int:
        """The step at which `latent` (D,) is seen, one chunk after the last call; the first call is at the start."""
        if self._step is None:
            self._step = 0
        elif self._kind == "clock":
            self._step += 1
        else:
            last = len(self._reference) - 1
            steps = torch.arange(min(self._step, last), min(self._step + AHEAD, last) + 1)
            look = (self._reference[steps] - latent.cpu()).square().sum(-1) / self._scale
            expected = min(self._step + 1, last)
            self._step = int(steps[(look + PRIOR * (steps - expected).square()).argmin()])
        return self._step
