"""Which terms of the objective count when, as one table: stages of the training, each with its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .config import ObjectiveConfig


@dataclass(frozen=True)
class Stage:
    """From the share `begin` of the training on, these terms are computed, with these weights.

    A stage without `sigreg` leaves the encoder as it is; one without `prediction` has no rollouts yet.
    """

    begin: float
    weights: Mapping[str, float]

    def __str__(self) -> str:
        terms = ", ".join(f"{name} {weight:g}" for name, weight in self.weights.items())
        return f"from {self.begin:.0%} on: {terms}" + ("" if "sigreg" in self.weights else "; the encoder is fixed")


def schedule(config: ObjectiveConfig) -> tuple[Stage, ...]:
    """All stages in their order; the first begins at 0."""
    changes = (config.rollout_from, config.fixed_from, config.hinge.until)
    stages = [Stage(0.0, _weights(config, 0.0))]
    for begin in sorted(share for share in changes if 0 < share < 1):
        weights = _weights(config, begin)
        if stages[-1].weights != weights:
            stages.append(Stage(begin, weights))
    return tuple(stages)


def _weights(config: ObjectiveConfig, progress: float) -> dict[str, float]:
    fixed, hinge_ended = progress >= config.fixed_from, progress >= config.hinge.until
    later = config.dynamics.later if hinge_ended else None
    dynamics = config.dynamics.weight if later is None else later
    squared = config.fixed_weight if fixed else 1.0
    weights: dict[str, float] = {}
    if not fixed:
        weights["sigreg"] = config.sigreg.weight
    if dynamics and not fixed:
        weights["dynamics"] = dynamics
    if config.one_step:
        weights["one_step"] = squared * config.one_step
    if config.contrast.weight:
        weights["contrast"] = config.contrast.weight
    if not config.rollout or progress >= config.rollout_from:
        weights["prediction"] = squared * config.prediction
        if config.contrast.weight:
            weights["rollout_contrast"] = config.contrast.weight
        if config.hinge.weight and not hinge_ended:
            weights["hinge"] = config.hinge.weight
        if config.readout.weight:
            weights["readout"] = config.readout.weight
    return weights
