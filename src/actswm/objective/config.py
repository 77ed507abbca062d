"""Everything that shapes the training objective."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import UserError
from .alternatives import ALTERNATIVES


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
    """Any of zero, shuffled."""
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
class ContrastConfig:
    """Predictions have to pick their own frame among many. Not in the paper."""

    weight: float = 0.0
    among: str = "batch"
    """All frames of the `batch`, or those of the same `place`: for plans that follow a reference from elsewhere."""
    temperature: float = 0.1
    near: int = 1
    """Frames at most so many raw steps from the right one do not count as wrong."""

    def __post_init__(self) -> None:
        if self.among not in ("batch", "place"):
            raise UserError(f"unknown objective.contrast.among {self.among!r}; use batch or place")


@dataclass
class ReadoutLossConfig:
    weight: float = 1.0
    alpha_pred: float = 1.0


@dataclass
class DynamicsConfig:
    """SIGReg on what changes: latents minus their place's mean, divided by `scale`. Not in the paper."""

    weight: float = 0.0
    scale: float = 0.6
    later: float | None = None
    """Weight once the hinge has ended (`hinge.until`): details that nobody can predict may go then. None: the same."""


@dataclass
class ObjectiveConfig:
    """Defaults are the paper's (Appendix A)."""

    rollout: bool = True
    """True: roll out `horizon` steps. False: LeWM's one-step loss at every context position."""
    horizon: int = 12
    rollout_from: float = 0.0
    """Share of the training after which rollouts begin: they teach little before one step ahead is learned."""
    fixed_from: float = 1.0
    """Share of the training after which the encoder stays as it is. Contrast shapes latents but leaves predictions far
    from them; against latents that no longer move, squared error brings them home, and a step costs a third."""
    fixed_weight: float = 1.0
    """Factor of both squared errors from then on: latents that stay cannot shrink to please them."""
    prediction: float = 1.0
    """Weight of the squared error of rollouts, or of LeWM's one-step loss without them."""
    one_step: float = 0.0
    """Weight of LeWM's one-step loss at every position of the window, beside the rollout. Not in the paper."""
    reduction: str = "mean"
    sigreg: SigregConfig = field(default_factory=SigregConfig)
    hinge: HingeConfig = field(default_factory=HingeConfig)
    readout: ReadoutLossConfig = field(default_factory=ReadoutLossConfig)
    dynamics: DynamicsConfig = field(default_factory=DynamicsConfig)
    contrast: ContrastConfig = field(default_factory=ContrastConfig)

    def __post_init__(self) -> None:
        if self.reduction not in ("mean", "sum"):
            raise UserError(f"unknown reduction {self.reduction!r}; use mean or sum")
