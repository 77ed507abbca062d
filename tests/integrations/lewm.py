"""stable-worldmodel's LeWM with moved weights, for comparison."""

import os

import pytest
import torch

from actswm.errors import UserError
from actswm.integrations.stable_worldmodel import peer


def make_lewm(context: int = 3, depth: int = 2, action_dim: int = 56):
    """A peer model whose AdaLN gates are open; skips where the peer is not installed."""
    try:
        module, lewm = peer("wm.lewm.module"), peer("wm.lewm")
        from transformers import ViTConfig, ViTModel
    except (UserError, ImportError) as error:
        if os.environ.get("ACTSWM_REQUIRE_BENCH"):
            raise
        pytest.skip(f"stable-worldmodel and transformers are not installed: {error}")
    torch.manual_seed(0)
    vit = ViTModel(
        ViTConfig(
            hidden_size=192, num_hidden_layers=depth, num_attention_heads=3, intermediate_size=768,
            image_size=128, patch_size=16,
        ),
        add_pooling_layer=False,
    )  # fmt: skip
    model = lewm.LeWM(
        encoder=vit,
        predictor=module.Predictor(
            num_frames=context,
            depth=depth,
            heads=16,
            mlp_dim=2048,
            input_dim=192,
            hidden_dim=192,
            dropout=0.1,
        ),
        action_encoder=module.Embedder(input_dim=action_dim, smoothed_dim=10, emb_dim=192),
        projector=module.MLP(192, 2048, 192, norm_fn=torch.nn.BatchNorm1d),
        pred_proj=module.MLP(192, 2048, 192, norm_fn=torch.nn.BatchNorm1d),
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.03 * torch.randn_like(parameter))
        for norm in (model.projector.net[1], model.pred_proj.net[1]):
            norm.running_mean.normal_(0, 0.2)
            norm.running_var.uniform_(0.5, 2)
    return model.eval()
