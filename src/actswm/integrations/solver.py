"""Our world models under stable-worldmodel's solvers: its `get_cost(info, candidates)`.

Two versions of that package are served, told apart by what `info` holds:

- 0.1.1: candidates (B, S, H - 1 + K, A') name the action of every context frame and then the future; the H-th is
  the first decision.
- its head: candidates (B, S, K, A') are strictly future and `info["action_history"]` (B, S, H - 1, A') is apart.

`pixels` (B, S, H, 3, h, w) and `goal` (B, S, T, 3, h, w) are the same for all S samples; uint8 frames are
normalised, floating-point ones are taken to be normalised already, as that package does.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..model import Context, WorldModel
from ..planning.costs import final


class SolverModel(nn.Module):
    """Wrap a world model: `CEMSolver(SolverModel(model), ...)`."""

    def __init__(self, model: WorldModel) -> None:
        super().__init__()
        self.model = model.eval()

    @torch.no_grad()
    def get_cost(self, info: dict[str, Any], candidates: Tensor) -> Tensor:
        """(B, S): squared distance of the last predicted latent to the last goal frame's. Lower is better.

        Encoded frames are kept in `info`, so that all iterations of a search encode them once.
        """
        if "emb" not in info:
            info["emb"] = self.encode(info["pixels"][:, 0])
            info["goal_emb"] = self.encode(info["goal"][:, 0])
        goals = info["goal_emb"].unsqueeze(1)
        return final(self.rollout(info["emb"], *self._split(info, candidates)), goals)

    def criterion(self, info: dict[str, Any], candidates: Tensor) -> Tensor:
        """The other name of the same thing in the package's `Costable` protocol."""
        return self.get_cost(info, candidates)

    def encode(self, frames: Tensor) -> Tensor:
        """(B, T, 3, h, w) -> (B, T, D)."""
        if not frames.is_floating_point():
            return self.model.encode(frames.permute(0, 1, 3, 4, 2))
        flat = self.model.encoder(frames.flatten(0, 1).to(self.model.dtype))
        return self.model.projector(flat).unflatten(0, frames.shape[:2])

    def rollout(self, latents: Tensor, history: Tensor, future: Tensor) -> Tensor:
        """Context (B, H, D), its actions (B, S, H - 1, A') and candidates (B, S, K, A') -> (B, S, K, D)."""
        samples, lead = future.shape[1], self.model.encoding.lead
        history = nn.functional.pad(history, (0, 0, lead, 0))
        if (history == history[:, :1]).all():
            return self.model.rollout(Context(latents, history[:, 0]), future)
        # 0.1.1 also samples the actions of the past: then every candidate has a past of its own
        context = Context(latents.repeat_interleave(samples, 0), history.flatten(0, 1))
        return self.model.rollout(context, future.flatten(0, 1).unsqueeze(1)).view(*future.shape[:3], -1)

    @staticmethod
    def _split(info: dict[str, Any], candidates: Tensor) -> tuple[Tensor, Tensor]:
        if "action_history" in info:
            return info["action_history"], candidates
        past = info["pixels"].shape[2] - 1
        return candidates[:, :, :past], candidates[:, :, past:]
