"""What an agent has seen and done, as the context of a rollout: each frame is encoded once."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..game import Frame
from .world_model import Context, WorldModel


def observed(
    model: WorldModel, context: Context | None, raw: NDArray[np.floating] | None, frame: Frame
) -> Context:
    """The context (B = 1) once a frame (h, w, 3) uint8 is seen, to which the raw actions (frameskip, A) of a step led.

    Without a context the episode starts, and nothing was done yet.
    """
    latent = encode_frames(model, frame[None])
    if context is None or raw is None:
        return Context.start(model, latent)
    step = torch.from_numpy(model.encoding.step_actions(raw))
    return context.after(latent[None], step[None], model.context_length)


@torch.no_grad()
def encode_frames(model: WorldModel, frames: NDArray[np.uint8], batch: int = 64) -> Tensor:
    """Frames (T, h, w, 3) -> latents (T, D)."""
    parts = torch.from_numpy(np.ascontiguousarray(frames)).split(batch)
    return torch.cat([model.encode(part[None])[0] for part in parts])
