"""The whole training objective on one batch of windows. Each term can be switched off by its weight."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ..errors import UserError
from ..model import Context, WorldModel
from .action_readout import readout_loss
from .alternatives import ALTERNATIVES, alternative
from .prediction import prediction_loss
from .separation import hinge_loss, truth_hinge_loss
from .sigreg import SIGReg
from .temporal import temporal_loss


@dataclass
class SigregConfig:
    weight: float = 0.09
    knots: int = 17
    projections: int = 1024


@dataclass
class HingeConfig:
    """The action contrast. The paper's: alternative `zero`, kept apart from the recorded rollout (`recorded`)."""

    weight: float = 0.5
    margin: float = 0.3
    """m: cosines above 1 - m are penalised, or gaps below m with `against=truth`."""
    alternatives: list[str] = field(default_factory=lambda: ["zero"])
    """Any of zero, shuffled, matched, edited."""
    against: str = "recorded"
    """`recorded`: the two rollouts must differ. `truth`: the recorded one must be closer to the encoded future."""

    until: float = 1.0
    """Share of the training after which the hinge ends. It finds what the actions move, and then stands in the way:
    the predictor goes on to be paid for being wrong under other actions."""

    def __post_init__(self) -> None:
        unknown = set(self.alternatives) - set(ALTERNATIVES)
        if self.weight and not self.alternatives:
            raise UserError("objective.hinge: no alternatives to keep apart; name one, or set weight=0")
        if unknown or self.against not in ("recorded", "truth"):
            raise UserError(
                f"objective.hinge: alternatives {self.alternatives} must be among {', '.join(ALTERNATIVES)}, "
                f"against {self.against!r} must be recorded or truth"
            )


@dataclass
class ReadoutLossConfig:
    weight: float = 1.0
    alpha_pred: float = 1.0


@dataclass
class DynamicsConfig:
    """SIGReg on what changes: latents minus their window's mean, divided by `scale`. Not in the paper."""

    weight: float = 0.0
    scale: float = 0.6
    windows: int = 1
    """Neighbouring windows that share one mean: they show the same place."""
    reach: int = 100
    """Raw steps between neighbours, at most."""
    later: float | None = None
    """Weight once the hinge has ended (`hinge.until`): details that nobody can predict may go then. None: the same."""

    def weight_at(self, hinge_ended: bool) -> float:
        return self.later if hinge_ended and self.later is not None else self.weight


@dataclass
class TemporalConfig:
    """InfoNCE in time. Not in the paper."""

    weight: float = 0.0
    temperature: float = 0.1


@dataclass
class ObjectiveConfig:
    """Defaults are the paper's (Appendix A)."""

    rollout: bool = True
    """True: roll out `horizon` steps. False: LeWM's one-step loss at every context position."""
    horizon: int = 12
    one_step: float = 0.0
    """Weight of LeWM's one-step loss at every context position, beside the rollout. Not in the paper."""
    reduction: str = "mean"
    sigreg: SigregConfig = field(default_factory=SigregConfig)
    hinge: HingeConfig = field(default_factory=HingeConfig)
    readout: ReadoutLossConfig = field(default_factory=ReadoutLossConfig)
    dynamics: DynamicsConfig = field(default_factory=DynamicsConfig)
    temporal: TemporalConfig = field(default_factory=TemporalConfig)

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
    """L = L_pred + lambda_sig L_sig + lambda_hinge L_hinge + lambda_readout L_readout, and what we add to it."""

    def __init__(self, config: ObjectiveConfig) -> None:
        super().__init__()
        if not config.rollout:
            lost = [name for name in ("hinge", "readout", "temporal") if getattr(config, name).weight]
            lost += ["one_step"] if config.one_step else []
            if lost:
                raise UserError(
                    f"objective.rollout=false trains LeWM's one-step loss alone: {', '.join(lost)} would be left "
                    "out; set the weights to 0, or objective.rollout=true"
                )
        self.config = config
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
        config = self.config
        latents = model.encode(batch.pixels)
        terms = {"sigreg": self.sigreg(latents.transpose(0, 1), generator)}
        dynamics_weight = config.dynamics.weight_at(hinge_ended=progress >= config.hinge.until)
        if dynamics_weight:
            places = latents.unflatten(0, (-1, config.dynamics.windows))
            changes = ((places - places.mean((1, 2), keepdim=True)) / config.dynamics.scale).flatten(0, 1)
            terms["dynamics"] = self.sigreg(changes.transpose(0, 1), generator)
        if config.rollout:
            terms |= self._rollout_terms(model, latents, batch.actions, generator, progress)
        else:
            predicted = model.predict(latents[:, :-1], batch.actions)
            terms["prediction"] = prediction_loss(predicted, latents[:, 1:], config.reduction)
        weights = {
            "prediction": 1.0,
            "one_step": config.one_step,
            "sigreg": config.sigreg.weight,
            "hinge": config.hinge.weight,
            "readout": config.readout.weight,
            "dynamics": dynamics_weight,
            "temporal": config.temporal.weight,
        }
        total = torch.stack([weights[name] * term for name, term in terms.items()]).sum()
        return Losses(total, terms, latents)

    def _rollout_terms(
        self,
        model: WorldModel,
        latents: Tensor,
        actions: Tensor,
        generator: torch.Generator | None,
        progress: float,
    ) -> dict[str, Tensor]:
        config = self.config
        horizon = config.horizon
        now = latents.shape[1] - horizon  # frames in the context; the last of them is t
        past, future = actions[:, :-horizon], actions[:, -horizon:]
        hinge = config.hinge.weight and progress < config.hinge.until
        names = config.hinge.alternatives if hinge else []
        sequences = [future, *(alternative(name, past, future, model.encoding, generator) for name in names)]
        rollouts = model.rollout(Context(latents[:, :now], past), torch.stack(sequences, 1))
        recorded, encoded = rollouts[:, 0], latents[:, now:]
        terms = {"prediction": prediction_loss(recorded, encoded, config.reduction)}
        if config.one_step:
            following = model.predict(latents[:, :now], actions[:, : past.shape[1] + 1])
            terms["one_step"] = prediction_loss(following, latents[:, 1 : now + 1], config.reduction)
        if names:
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
        if config.temporal.weight:
            terms["temporal"] = temporal_loss(
                recorded, latents, config.temporal.temperature, config.dynamics.windows
            )
        return terms

    def _hinge(self, rollouts: Tensor, encoded: Tensor) -> Tensor:
        """Averaged over the alternatives."""
        recorded, *others = rollouts.unbind(1)
        margin = self.config.hinge.margin
        if self.config.hinge.against == "truth":
            losses = [truth_hinge_loss(recorded, other, encoded, margin) for other in others]
        else:
            losses = [hinge_loss(recorded, other, margin) for other in others]
        return torch.stack(losses).mean()
