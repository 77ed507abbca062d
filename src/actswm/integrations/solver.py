"""Our world models under stable-worldmodel's solvers: its `get_cost(info, candidates)`.

Two versions of that package are served, told apart by what `info` holds:

- 0.1.1: candidates (B, S, H - 1 + K, A') name the action of every context frame and then the future; the H-th is
  the first decision.
- its head: candidates (B, S, K, A') are strictly future and `info["action_history"]` (B, S, H - 1, A') is apart.

`pixels` (B, S, H, 3, h, w) and `goal` (B, S, T, 3, h, w) are the same for all S samples; uint8 frames are
normalised, floating-point ones are taken to be normalised already, as that package does. Only the cost is offered:
that package's `Dynamics` protocol (its own `encode` and `rollout` of `info`) is another thing, and not claimed.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import UserError
from ..model import Context, WorldModel
from ..planning.costs import final


class SolverModel(nn.Module):
    """Wrap a world model: `CEMSolver(SolverModel(model), ...)`."""

    def __init__(self, model: WorldModel) -> None:
        super().__init__()
        self.model = _frozen(model)

    def get_cost(self, info: dict[str, Any], candidates: Tensor) -> Tensor:
        """(B, S): squared distance of the last predicted latent to the last goal frame's. Lower is better.

        Encoded frames are kept in `info`, so that all iterations of a search encode them once. The cost has
        gradients in the candidates if they ask for them: some solvers descend along them.
        """
        self._require_fit(candidates)
        with torch.no_grad():
            if "emb" not in info:
                info["emb"] = self._encode(info["pixels"][:, 0])
                info["goal_emb"] = self._encode(info["goal"][:, 0])
        goals = info["goal_emb"].unsqueeze(1)
        with torch.set_grad_enabled(torch.is_grad_enabled() and candidates.requires_grad):
            costs = final(self._rollout(info["emb"], *self._split(info, candidates)), goals)
        return costs.to(candidates.device)

    def criterion(self, info: dict[str, Any], candidates: Tensor) -> Tensor:
        """The other name of the same thing in the package's `Costable` protocol."""
        return self.get_cost(info, candidates)

    def _encode(self, frames: Tensor) -> Tensor:
        """(B, T, 3, h, w) -> (B, T, D)."""
        if not frames.is_floating_point():
            return self.model.encode(frames.permute(0, 1, 3, 4, 2))
        flat = self.model.encoder(frames.flatten(0, 1).to(self.model.device, self.model.dtype))
        return self.model.projector(flat).unflatten(0, frames.shape[:2])

    def _rollout(self, latents: Tensor, history: Tensor, future: Tensor) -> Tensor:
        """Context (B, H, D), its actions (B, S, H - 1, A') and candidates (B, S, K, A') -> (B, S, K, D)."""
        samples, lead = future.shape[1], self.model.encoding.lead
        history = nn.functional.pad(history, (0, 0, lead, 0))
        if (history == history[:, :1]).all():
            return self.model.rollout(Context(latents, history[:, 0]), future)
        # 0.1.1 also samples the actions of the past: then every candidate has a past of its own
        context = Context(latents.repeat_interleave(samples, 0), history.flatten(0, 1))
        return self.model.rollout(context, future.flatten(0, 1).unsqueeze(1)).view(*future.shape[:3], -1)

    def _require_fit(self, candidates: Tensor) -> None:
        encoding = self.model.encoding
        if candidates.shape[-1] != encoding.step_dim:
            block, controls = encoding.step_dim // encoding.vocabulary.size, encoding.vocabulary.size
            raise UserError(
                f"the candidates have {candidates.shape[-1]} values a step, but this model ({encoding.kind} encoding) "
                f"takes {encoding.step_dim}: use PlanConfig(action_block={block}) on a space of {controls} controls"
            )

    @staticmethod
    def _split(info: dict[str, Any], candidates: Tensor) -> tuple[Tensor, Tensor]:
        if "action_history" in info:
            return info["action_history"], candidates
        past = info["pixels"].shape[2] - 1
        return candidates[:, :, :past], candidates[:, :, past:]


def _frozen(model: WorldModel) -> WorldModel:
    """The same weights, in evaluation mode and without gradients of their own: descending along a cost's gradients
    must leave the caller's model as it is."""
    shared: dict[int, Any] = {id(each): nn.Parameter(each.detach(), False) for each in model.parameters()}
    shared |= {id(each): each for each in model.buffers()}
    return copy.deepcopy(model, shared).eval()
