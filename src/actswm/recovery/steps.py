"""What is searched: one A-vector a model step, whatever the model's encoding.

A binary control counts as pressed if pressed in any raw step of the step; continuous ones are summed. A
`sliding` model takes such vectors as they are; for a `block` model each is held for the step's raw actions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..controls import ActionEncoding


def step_vectors(raw: NDArray[np.floating], encoding: ActionEncoding) -> NDArray[np.float32]:
    """Raw actions (..., T * frameskip, A) -> one vector a step (..., T, A)."""
    return replace(encoding, kind="sliding").step_actions(raw)


def held_raw(vectors: NDArray[np.floating], encoding: ActionEncoding) -> NDArray[np.float32]:
    """Vectors (..., T, A) -> raw actions (..., T * frameskip, A): buttons held, continuous controls spread."""
    return replace(encoding, kind="sliding").raw_actions(vectors)


def step_actions(vectors: Tensor, encoding: ActionEncoding) -> Tensor:
    """Vectors (..., A) -> step actions (..., A') of the encoding."""
    if encoding.kind == "sliding":
        return vectors
    parts = torch.where(torch.from_numpy(encoding.vocabulary.binary), 1.0, 1 / encoding.frameskip)
    held = vectors * parts.to(vectors)
    return torch.cat([held] * encoding.frameskip, -1)
