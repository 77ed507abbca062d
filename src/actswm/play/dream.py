"""A world that only a model makes: it goes on from what was really seen, and from then on from itself."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from ..game import Frame
from ..model import Context, WorldModel
from ..model.decoder import Draw


class Dream:
    """One model step at a time under whatever is done in it; no frame of the game enters any more."""

    def __init__(self, model: WorldModel, draw: Draw, context: Context) -> None:
        self._model, self._draw, self._context = model, draw, context

    @property
    def frame(self) -> Frame:
        """The newest latent as a picture; at first the last real frame's."""
        return self._draw(self._context.latents[:, -1])[0]

    @torch.no_grad()
    def step(self, raw: NDArray[np.floating]) -> None:
        """The raw actions (frameskip, A) of one model step."""
        action = torch.from_numpy(self._model.encoding.step_actions(raw))[None]
        latent = self._model.rollout(self._context, action[:, None])[:, 0]
        self._context = self._context.after(latent, action, self._model.context_length)
