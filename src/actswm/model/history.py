"""What an agent has seen and done, as the context of a rollout: each frame is encoded once."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..game import Frame
from .world_model import Context, WorldModel


class History:
    """The last H frames and the step actions between them.

    In the first moments of an episode the context is filled up with the first frame and no-ops (reading 7).
    """

    def __init__(self, model: WorldModel) -> None:
        self._model = model
        self._latents: list[Tensor] = []
        self._actions: list[Tensor] = []

    @torch.no_grad()
    def observe(self, frame: Frame) -> None:
        """A frame (h, w, 3) uint8, at the start or after the action that was told last."""
        if len(self._latents) != len(self._actions):
            raise ValueError("a frame follows an action, and an action a frame")
        self._latents.append(encode_frames(self._model, frame[None])[0])

    def act(self, raw: NDArray[np.floating]) -> None:
        """The raw actions (frameskip, A) of a step that is being taken."""
        if len(self._latents) != len(self._actions) + 1:
            raise ValueError("an action follows a frame, and a frame an action")
        self._actions.append(torch.from_numpy(self._model.encoding.step_actions(raw))[0])

    def context(self) -> Context:
        """One context (B = 1) of H frames."""
        frames, lead = self._model.context_length, self._model.encoding.lead
        latents, actions = self._latents[-frames:], self._actions[-(lead + frames - 1) :]
        if lead + frames == 1:
            actions = []
        latents = [latents[0]] * (frames - len(latents)) + latents
        noop = torch.zeros(self._model.encoding.step_dim)
        actions = [noop] * (lead + frames - 1 - len(actions)) + actions
        steps = torch.stack(actions) if actions else noop.new_empty(0, len(noop))
        return Context(torch.stack(latents)[None], steps[None])


@torch.no_grad()
def encode_frames(model: WorldModel, frames: NDArray[np.uint8], batch: int = 64) -> Tensor:
    """Frames (T, h, w, 3) -> latents (T, D)."""
    parts = torch.from_numpy(np.ascontiguousarray(frames)).split(batch)
    return torch.cat([model.encode(part[None])[0] for part in parts])
