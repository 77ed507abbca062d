"""Training: configuration, presets, the run, checkpoints and validation."""

from .config import Config, TrainingConfig, load_config, preset_names
from .run import TrainingResult, train

__all__ = ["Config", "TrainingConfig", "TrainingResult", "load_config", "preset_names", "train"]
