"""The whole training objective on one batch of windows. Each term can be switched off by its weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..errors import UserError
from ..model import Context, WorldModel
from ..model.distributed import gathered, rank
from .action_readout import readout_loss
from .alternatives import alternative
from .config import ObjectiveConfig
from .contrast import contrast_loss
from .prediction import prediction_loss
from .schedule import schedule
from .separation import hinge_loss, truth_hinge_loss
from .sigreg import SIGReg


@dataclass(frozen=True)
class Batch:
    """Windows of n frames: pixels (B, n, h, w, 3) uint8, step actions (B, lead + n - 1, A').

    `rows` (B, n) says where in the recording each frame is: those of one row are the same, and encoded once. Each
    `place` windows that follow one another show the same place. Frames of the same `moments` (B, n) show the same but
    for the look of the place; the second half of such a group shows the moments of the first.
    """

    pixels: Tensor
    actions: Tensor
    rows: Tensor | None = None
    place: int = 1
    moments: Tensor | None = None

    def to(self, device: torch.device) -> Batch:
        rows, moments = (
            None if part is None else part.to(device, non_blocking=True) for part in (self.rows, self.moments)
        )
        pixels, actions = (part.to(device, non_blocking=True) for part in (self.pixels, self.actions))
        return Batch(pixels, actions, rows, self.place, moments)

    def twins(self) -> Tensor:
        """(B,) the window that shows the same moments in another look; itself where there is none."""
        own = torch.arange(len(self.pixels), device=self.pixels.device)
        if self.moments is None or self.place % 2:
            return own
        other = own.unflatten(0, (-1, 2, self.place // 2)).flip(1).flatten()
        alike = (self.moments[other] == self.moments).all(1)
        return torch.where(alike, other, own)


@dataclass(frozen=True)
class Losses:
    """The weighted total, each term unweighted, and the encoded latents (B, n, D) they were computed on."""

    total: Tensor
    terms: dict[str, Tensor]
    latents: Tensor


Contrast = Callable[..., Tensor]
"""Predictions (B, k, D) -> their contrast with all frames of the batch."""


class Objective(nn.Module):
    """L = L_pred + lambda_sig L_sig + lambda_hinge L_hinge + lambda_readout L_readout, and what we add to it."""

    def __init__(self, config: ObjectiveConfig) -> None:
        super().__init__()
        if not config.rollout:
            lost = [name for name in ("hinge", "readout", "contrast") if getattr(config, name).weight]
            lost += ["one_step"] if config.one_step else []
            if lost:
                raise UserError(
                    f"objective.rollout=false trains LeWM's one-step loss alone: {', '.join(lost)} would be left "
                    "out; set the weights to 0, or objective.rollout=true"
                )
        self.config = config
        self.schedule = schedule(config)
        self.sigreg = SIGReg(config.sigreg.knots, config.sigreg.projections)

    def frames(self, context: int) -> int:
        """Frames in a window: H + K for rollouts, H + 1 for one-step training."""
        return context + (self.config.horizon if self.config.rollout else 1)

    def forward(
        self,
        model: WorldModel,
        batch: Batch,
        generator: torch.Generator | None = None,
        progress: float = 0.0,
    ) -> Losses:
        """`progress`: share of the training that is over."""
        config, batch = self.config, batch.to(model.device)
        weights = next(stage.weights for stage in reversed(self.schedule) if stage.begin <= progress)
        fixed = "sigreg" not in weights
        latents = (model.encode_fixed if fixed else model.encode)(batch.pixels, batch.rows)
        terms = {} if fixed else {"sigreg": self.sigreg(latents.transpose(0, 1), generator)}
        if "dynamics" in weights:
            places = latents.float().unflatten(0, (-1, batch.place))
            changes = ((places - places.mean((1, 2), keepdim=True)) / config.dynamics.scale).flatten(0, 1)
            terms["dynamics"] = self.sigreg(changes.transpose(0, 1), generator)
        contrast = self._contrast_with(latents, batch) if "contrast" in weights else None
        if not config.rollout:
            predicted = model.predict(latents[:, :-1], batch.actions)
            terms["prediction"] = prediction_loss(predicted, latents[:, 1:], config.reduction)
        elif "one_step" in weights or contrast:
            terms |= self._one_step_terms(model, latents, batch.actions, contrast)
        if config.rollout and "prediction" in weights:
            alternatives = config.hinge.alternatives if "hinge" in weights else []
            terms |= self._rollout_terms(model, latents, batch, generator, alternatives, contrast)
        total = torch.stack([weights[name] * term for name, term in terms.items()]).sum()
        return Losses(total, terms, latents)

    def _rollout_terms(
        self,
        model: WorldModel,
        latents: Tensor,
        batch: Batch,
        generator: torch.Generator | None,
        alternatives: Sequence[str],
        contrast: Contrast | None,
    ) -> dict[str, Tensor]:
        config = self.config
        horizon = config.horizon
        now = latents.shape[1] - horizon  # frames in the context; the last of them is t
        past, future = batch.actions[:, :-horizon], batch.actions[:, -horizon:]
        sequences = [future, *(alternative(name, future, generator) for name in alternatives)]
        rollouts = model.rollout(Context(latents[:, :now], past), torch.stack(sequences, 1))
        recorded, encoded = rollouts[:, 0], latents[:, now:]
        terms = {"prediction": prediction_loss(recorded, encoded, config.reduction)}
        if contrast:
            terms["rollout_contrast"] = contrast(recorded)
        if alternatives:
            terms["hinge"] = self._hinge(rollouts, encoded)
        if config.readout.weight:
            terms["readout"] = readout_loss(
                model.readout,
                latents[:, now - 1 :],
                recorded,
                model.normalise(future),
                config.readout.alpha_pred,
                config.reduction,
            )
        return terms

    def _one_step_terms(
        self, model: WorldModel, latents: Tensor, actions: Tensor, contrast: Contrast | None
    ) -> dict[str, Tensor]:
        """One step ahead from every position that the predictor has, so from contexts of every length."""
        count = min(latents.shape[1] - 1, model.config.predictor.length)
        predicted = model.predict(latents[:, :count], actions[:, : model.encoding.lead + count])
        terms = {}
        if self.config.one_step:
            terms["one_step"] = prediction_loss(predicted, latents[:, 1 : count + 1], self.config.reduction)
        if contrast:
            terms["contrast"] = contrast(predicted, first=1)
        return terms

    def _contrast_with(self, latents: Tensor, batch: Batch) -> Contrast:
        """The contrast of this batch's predictions: with all its frames, those of other ranks included."""
        if batch.rows is None:
            raise ValueError("contrast needs to know the rows of a batch")
        config, rows = self.config.contrast, batch.rows if batch.moments is None else batch.moments
        keys, when = gathered(latents).flatten(0, 1), gathered(rows).flatten()
        own = torch.arange(rows.numel(), device=rows.device).view_as(rows) + rank() * rows.numel()
        shown = own[batch.twins()]
        places = torch.arange(len(keys), device=keys.device) // (batch.place * rows.shape[1])
        groups = places if config.among == "place" else None

        def contrast(predicted: Tensor, first: int | None = None) -> Tensor:
            """Predictions (B, k, D) of the window's frames from number `first` on; else of its last k."""
            count, frames = predicted.shape[1], shown.shape[1]
            begin = frames - count if first is None else first
            target = shown[:, begin : begin + count]
            return contrast_loss(
                predicted.flatten(0, 1), target.flatten(), keys, when, config.temperature, config.near, groups
            )

        return contrast

    def _hinge(self, rollouts: Tensor, encoded: Tensor) -> Tensor:
        """Averaged over the alternatives."""
        recorded, *others = rollouts.unbind(1)
        margin = self.config.hinge.margin
        if self.config.hinge.against == "truth":
            losses = [truth_hinge_loss(recorded, other, encoded, margin) for other in others]
        else:
            losses = [hinge_loss(recorded, other, margin) for other in others]
        return torch.stack(losses).mean()
