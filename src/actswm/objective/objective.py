"""The whole training objective on one batch of windows. Each term can be switched off by its weight."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ..errors import UserError
from ..model import Context, WorldModel
from .action_readout import readout_loss
from .prediction import prediction_loss
from .separation import hinge_loss
from .sigreg import SIGReg


@dataclass
class SigregConfig:
    weight: float = 0.09
    knots: int = 17
    projections: int = 1024


@dataclass
class HingeConfig:
    """`margin` is m: cosines above 1 - m are penalised."""

    weight: float = 0.5
    margin: float = 0.3


@dataclass
class ReadoutLossConfig:
    weight: float = 1.0
    alpha_pred: float = 1.0


@dataclass
class ObjectiveConfig:
    """Defaults are the paper's (Appendix A)."""

    rollout: bool = True
    """True: roll out `horizon` steps. False: LeWM's one-step loss at every context position."""
    horizon: int = 12
    reduction: str = "mean"
    sigreg: SigregConfig = field(default_factory=SigregConfig)
    hinge: HingeConfig = field(default_factory=HingeConfig)
    readout: ReadoutLossConfig = field(default_factory=ReadoutLossConfig)

    def __post_init__(self) -> None:
        if self.reduction not in ("mean", "sum"):
            raise UserError(f"unknown reduction {self.reduction!r}; use mean or sum")


@dataclass(frozen=True)
class Batch:
    """Windows of n frames: pixels (B, n, h, w, 3) uint8, step actions (B, lead + n - 1, A')."""

    pixels: Tensor
    actions: Tensor

    def to(self, device: torch.device | str) -> Batch:
        return Batch(self.pixels.to(device, non_blocking=True), self.actions.to(device, non_blocking=True))

    def pin_memory(self) -> Batch:
        return Batch(self.pixels.pin_memory(), self.actions.pin_memory())


@dataclass(frozen=True)
class Losses:
    """The weighted total, each term unweighted, and the encoded latents (B, n, D) they were computed on."""

    total: Tensor
    terms: dict[str, Tensor]
    latents: Tensor


class Objective(nn.Module):
    """L = L_pred + lambda_sig L_sig + lambda_hinge L_hinge + lambda_readout L_readout."""

    def __init__(self, config: ObjectiveConfig) -> None:
        super().__init__()
        self.config = config
        self.sigreg = SIGReg(config.sigreg.knots, config.sigreg.projections)

    def frames(self, context: int) -> int:
        """Frames in a window: H + K for rollouts, H + 1 for one-step training."""
        return context + (self.config.horizon if self.config.rollout else 1)

    def forward(self, model: WorldModel, batch: Batch, generator: torch.Generator | None = None) -> Losses:
        latents = model.encode(batch.pixels)
        if self.config.rollout:
            terms = self._rollout_terms(model, latents, batch.actions)
        else:
            predicted = model.predict(latents[:, :-1], batch.actions)
            terms = {"prediction": prediction_loss(predicted, latents[:, 1:], self.config.reduction)}
        terms["sigreg"] = self.sigreg(latents.transpose(0, 1), generator)
        weights = {
            "prediction": 1.0,
            "sigreg": self.config.sigreg.weight,
            "hinge": self.config.hinge.weight,
            "readout": self.config.readout.weight,
        }
        total = torch.stack([weights[name] * term for name, term in terms.items()]).sum()
        return Losses(total, terms, latents)

    def _rollout_terms(self, model: WorldModel, latents: Tensor, actions: Tensor) -> dict[str, Tensor]:
        config = self.config
        horizon = config.horizon
        now = latents.shape[1] - horizon  # frames in the context; the last of them is t
        past, future = actions[:, :-horizon], actions[:, -horizon:]
        sequences = [future]
        if config.hinge.weight:
            sequences.append(torch.zeros_like(future))
        rollouts = model.rollout(Context(latents[:, :now], past), torch.stack(sequences, 1))
        recorded = rollouts[:, 0]
        terms = {"prediction": prediction_loss(recorded, latents[:, now:], config.reduction)}
        if config.hinge.weight:
            terms["hinge"] = hinge_loss(recorded, rollouts[:, 1], config.hinge.margin)
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
