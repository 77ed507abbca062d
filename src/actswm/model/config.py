"""Everything that shapes a world model. Saved with its weights."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..controls import ActionEncoding, vocabulary_of
from ..errors import UserError
from .action import ActionConfig
from .convnet import ConvConfig
from .predictor import PredictorConfig
from .readout import ReadoutConfig
from .vit import ViTConfig


@dataclass
class ModelConfig:
    """Defaults are the paper's (Appendix A)."""

    image_size: int = 128
    encoder: str = "vit"
    """`vit`, or `conv` for small CPU runs."""
    vit: ViTConfig = field(default_factory=ViTConfig)
    conv: ConvConfig = field(default_factory=ConvConfig)
    latent_dim: int = 192
    projector_hidden: int = 2048
    action: ActionConfig = field(default_factory=ActionConfig)
    predictor: PredictorConfig = field(default_factory=PredictorConfig)
    readout: ReadoutConfig = field(default_factory=ReadoutConfig)
    vocabulary: str = "keys14"
    encoding: str = "block"
    """`block` or `sliding`."""
    frameskip: int = 4
    checkpointing: bool = False
    """Recompute the encoder's activations in the backward pass: slower, far less memory."""

    def __post_init__(self) -> None:
        if self.encoder not in ("vit", "conv"):
            raise UserError(f"unknown encoder {self.encoder!r}; use vit or conv")

    @property
    def action_encoding(self) -> ActionEncoding:
        return ActionEncoding(vocabulary_of(self.vocabulary), self.encoding, self.frameskip)  # type: ignore[arg-type]
