"""Either kind of inverse-dynamics model from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import UserError
from .idm import IdmConfig, InverseDynamics
from .idm_file import read_idm
from .motion_idm import MotionIdm, MotionIdmConfig


def load_idm(folder: Path) -> InverseDynamics | MotionIdm:
    return read_idm(folder, _build)


def load_motion_idm(folder: Path) -> MotionIdm:
    """For what the pair network cannot do: labels of raw steps, with probabilities."""
    model = load_idm(folder)
    if isinstance(model, InverseDynamics):
        raise UserError(f"{folder}: is a pair network, which cannot say how sure it is; train another (actswm idm)")
    return model


def _build(config: dict[str, Any]) -> InverseDynamics | MotionIdm:
    if config.get("kind") == "motion":
        return MotionIdm(MotionIdmConfig(**config))
    return InverseDynamics(IdmConfig(**config))
