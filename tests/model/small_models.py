"""World models small enough to test exhaustively, away from the AdaLN-zero start."""

from __future__ import annotations

import torch

from actswm.model import Context, ModelConfig, WorldModel
from actswm.model.convnet import ConvConfig
from actswm.model.predictor import PredictorConfig
from actswm.model.readout import ReadoutConfig


def small_config(context: int = 4, predictor: dict | None = None, **changes) -> ModelConfig:
    """`predictor`: changes to the predictor's settings."""
    defaults = dict(
        image_size=16,
        encoder="conv",
        conv=ConvConfig([8, 8], 16),
        latent_dim=12,
        projector_hidden=24,
        predictor=PredictorConfig(
            context=context, depth=2, heads=3, head_dim=4, mlp=20, dropout=0.1, **(predictor or {})
        ),
        readout=ReadoutConfig(hidden=16),
    )
    return ModelConfig(**{**defaults, **changes})


def disturbed(config: ModelConfig, seed: int = 0) -> WorldModel:
    """A model whose every parameter, gate and running statistic has been moved, in evaluation mode."""
    torch.manual_seed(seed)
    model = WorldModel(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
        for projector in (model.projector, model.prediction_projector):
            projector.norm.running_mean.normal_(0, 0.3)
            projector.norm.running_var.uniform_(0.5, 2)
    return model.eval()


def random_context(model: WorldModel, batch: int, frames: int, dtype=torch.float32) -> Context:
    encoding = model.encoding
    latents = torch.randn(batch, frames, model.config.latent_dim, dtype=dtype)
    actions = torch.rand(batch, encoding.lead + frames - 1, encoding.step_dim, dtype=dtype)
    return Context(latents, actions)


def sized_model(sizes: dict) -> WorldModel:
    """As drawn by hypothesis. A growing window gets so few positions that long rollouts slide in the end."""
    context = sizes["context"]
    positions = 1 + context + context // 2 if sizes["window"] == "grow" else 0
    predictor = {"window": sizes["window"], "positions": positions, "residual": sizes["residual"]}
    return disturbed(small_config(context, predictor, encoding=sizes["encoding"]))
