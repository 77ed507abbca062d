"""Training: configuration, presets, the run, checkpoints and validation."""

from ..presets import preset_names
from .config import Config, TrainingConfig, load_config
from .run import TrainingResult, train

__all__ = ["Config", "TrainingConfig", "TrainingResult", "load_config", "preset_names", "train"]
