"""The training objective: multi-step prediction, SIGReg, separation and readout."""

from .objective import Batch, Losses, Objective, ObjectiveConfig

__all__ = ["Batch", "Losses", "Objective", "ObjectiveConfig"]
