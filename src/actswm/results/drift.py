"""What `actswm drift` finds: step drift, to which controls a model is sensitive, and Appendix E's bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..intervals import Estimate
from ..origin import UNKNOWN, Origin
from .form import Count

COLUMNS = ("recorded", "zero", "zero_gap", "shuffled", "shuffled_gap", "copy", "random")


@dataclass(frozen=True)
class DriftStep:
    """Cosine to the encoded future at one step, and what other actions take from it."""

    step: Count
    recorded: Estimate
    zero: Estimate
    zero_gap: Estimate
    shuffled: Estimate
    shuffled_gap: Estimate
    copy: Estimate
    random: Estimate


@dataclass(frozen=True)
class ControlSensitivity:
    """Per step k (entry k - 1).

    `effect`: 1 - cos between the rollouts with the control pressed and released: 0 if it is ignored.
    `press_gap`, `release_gap`: similarity to the recorded future lost by the edit, over the windows in which
    the edit has changed an action by step k (NaN without any): above 0 if the model heeds it to the good.
    """

    control: str
    effect: tuple[Estimate, ...]
    press_gap: tuple[Estimate, ...]
    release_gap: tuple[Estimate, ...]


@dataclass(frozen=True)
class BoundCheck:
    """The bound with one choice of L against the measured distances of all pairs."""

    lipschitz: float
    smallest_slack: float
    """Least ||u_i - u_j|| minus its bound: negative if the bound fails."""
    violations: Count
    tightness: float | None
    """Mean bound / distance over pairs with a positive bound; None without any."""


@dataclass(frozen=True)
class SeparationBound:
    """The bound on pairs of transitions with different actions."""

    transitions: Count
    pairs: Count
    mean_error: float
    """Mean eps = ||q(u) - a||."""
    blind_error: float
    """Mean ||mean of a - a||: what a readout reaches that does not look at u."""
    mean_action_distance: float
    mean_distance: float
    """Mean ||u_i - u_j||."""
    positive_share: float
    """Share of pairs whose actions differ by more than both errors: only there the bound says anything."""
    region: BoundCheck
    product: BoundCheck


@dataclass(frozen=True)
class ModelBounds:
    """For transitions between encoded frames, and between the frames of the recorded-action rollout."""

    readout_trained: bool
    encoded: SeparationBound
    predicted: SeparationBound


@dataclass(frozen=True)
class DriftModel:
    name: str
    steps: tuple[DriftStep, ...]
    controls: tuple[ControlSensitivity, ...] = ()
    bound: ModelBounds | None = None

    @cached_property
    def curves(self) -> Mapping[str, tuple[Estimate, ...]]:
        """Estimates over the steps, by column."""
        return {column: tuple(getattr(step, column) for step in self.steps) for column in COLUMNS}


@dataclass(frozen=True)
class Drift:
    data: str
    windows: Count
    models: tuple[DriftModel, ...]
    episodes: Count | None = None
    split: str = ""
    context: Count | None = None
    horizon: Count | None = None
    windows_of_controls_and_bound: Count | None = None
    origin: Origin = UNKNOWN

    def __post_init__(self) -> None:
        if not self.models or not all(model.steps for model in self.models):
            raise ValueError("it holds no step of a model")
