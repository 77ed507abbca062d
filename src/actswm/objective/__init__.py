"""The training objective: multi-step prediction, SIGReg, separation and readout."""

from .config import ObjectiveConfig
from .objective import Batch, Losses, Objective
from .schedule import Stage, schedule

__all__ = ["Batch", "Losses", "Objective", "ObjectiveConfig", "Stage", "schedule"]
