"""Any kind of inverse-dynamics model from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import UserError
from .idm import IdmConfig, InverseDynamics
from .idm_file import read_idm
from .latent_idm import LatentIdm, LatentIdmConfig
from .motion_idm import MotionIdm, MotionIdmConfig

Idm = InverseDynamics | LatentIdm | MotionIdm


def load_idm(folder: Path) -> Idm:
    return read_idm(folder, _build)


def load_motion_idm(folder: Path) -> MotionIdm:
    """For what the others cannot do: labels of raw steps, with probabilities."""
    model = load_idm(folder)
    if not isinstance(model, MotionIdm):
        kind = "pair network" if isinstance(model, InverseDynamics) else "network on latents"
        raise UserError(f"{folder}: is a {kind}, which labels no raw steps; train another (actswm idm --model small)")
    return model


def _build(config: dict[str, Any]) -> Idm:
    if config.get("kind") == "motion":
        return MotionIdm(MotionIdmConfig(**config))
    if config.get("kind") == "latents":
        return LatentIdm(LatentIdmConfig(**config))
    return InverseDynamics(IdmConfig(**config))
