"""The world model: encoder, predictor, readout and the rollout engine."""

from .config import ModelConfig
from .rollout import Past, roll_out
from .world_model import Context, WorldModel

__all__ = ["Context", "ModelConfig", "Past", "WorldModel", "roll_out"]
