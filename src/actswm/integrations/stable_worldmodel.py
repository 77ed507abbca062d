"""stable-worldmodel: our models under its solvers (`SolverModel`), and its LeWM checkpoints become ours.

The two LeWM networks compute the same function; only names and the layout of a few tensors differ.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import types
from collections.abc import Mapping

import torch
from torch import Tensor

from ..errors import UserError
from ..model import ModelConfig, WorldModel
from ..model.action import ActionConfig
from ..model.predictor import PredictorConfig
from ..model.vit import ViTConfig
from .solver import SolverModel

__all__ = ["SolverModel", "lewm_to_world_model", "peer"]

_VIT_BLOCK = {
    "attention.o_proj": "out",
    "attention.output.dense": "out",
    "layernorm_before": "norm1",
    "layernorm_after": "norm2",
    "mlp.fc1": "expand",
    "intermediate.dense": "expand",
    "mlp.fc2": "contract",
    "output.dense": "contract",
}
"""Hugging Face's ViT, names of its fifth and of its fourth major version."""

_NAMES = [
    (r"encoder\.embeddings\.cls_token", "encoder.cls"),
    (r"encoder\.embeddings\.position_embeddings", "encoder.positions"),
    (r"encoder\.embeddings\.patch_embeddings\.projection\.(\w+)", r"encoder.patches.\1"),
    (r"encoder\.layernorm\.(\w+)", r"encoder.norm.\1"),
    *[
        (
            rf"encoder\.(?:encoder\.layer|layers)\.(\d+)\.{re.escape(theirs)}\.(\w+)",
            rf"encoder.blocks.\1.{ours}.\2",
        )
        for theirs, ours in _VIT_BLOCK.items()
    ],
    *[
        (rf"{theirs}\.net\.{number}\.(\w+)", rf"{ours}.{part}.\1")
        for theirs, ours in (("projector", "projector"), ("pred_proj", "prediction_projector"))
        for number, part in ((0, "expand"), (1, "norm"), (3, "contract"))
    ],
    (r"action_encoder\.patch_embed\.(\w+)", r"action_encoder.squeeze.\1"),
    (r"action_encoder\.embed\.(\d)\.(\w+)", r"action_encoder.embed.\1.\2"),
    (r"predictor\.pos_embedding", "predictor.positions"),
    (r"predictor\.transformer\.norm\.(\w+)", r"predictor.norm.\1"),
    *[
        (
            rf"predictor\.transformer\.layers\.(\d+)\.{re.escape(theirs)}\.(\w+)",
            rf"predictor._blocks.\1.{ours}.\2",
        )
        for theirs, ours in {
            "attn.norm": "attention.norm",
            "attn.to_qkv": "attention.qkv",
            "attn.to_out.0": "attention.out",
            "mlp.net.0": "mlp_norm",
            "mlp.net.1": "expand",
            "mlp.net.4": "contract",
            "adaLN_modulation.1": "modulate",
        }.items()
    ],
]
_QKV = re.compile(
    r"encoder\.(?:encoder\.layer|layers)\.(\d+)\.attention\.(?:attention\.)?(q|k|v)(?:_proj|uery|ey|alue)\.(\w+)"
)


def lewm_to_world_model(
    state: Mapping[str, Tensor], *, vocabulary: str, frameskip: int, vit_heads: int = 3, head_dim: int = 64
) -> WorldModel:
    """A LeWM state dict as our model, in evaluation mode. Head counts are not visible in the weights."""
    translated = _translate(state)
    positions, patches = translated["encoder.positions"], translated["encoder.patches.weight"]
    latent = translated["predictor.positions"].shape[-1]
    inner = translated["predictor._blocks.0.attention.out.weight"].shape[1]
    config = ModelConfig(
        image_size=round((positions.shape[1] - 1) ** 0.5) * patches.shape[-1],
        vit=ViTConfig(
            patch=patches.shape[-1],
            hidden=patches.shape[0],
            depth=1
            + max(int(name.split(".")[2]) for name in translated if name.startswith("encoder.blocks.")),
            heads=vit_heads,
            mlp=translated["encoder.blocks.0.expand.weight"].shape[0],
        ),
        latent_dim=latent,
        projector_hidden=translated["projector.expand.weight"].shape[0],
        action=ActionConfig(
            bottleneck=translated["action_encoder.squeeze.weight"].shape[0],
            expansion=translated["action_encoder.embed.0.weight"].shape[0] // latent,
        ),
        predictor=PredictorConfig(
            context=translated["predictor.positions"].shape[0],
            depth=1
            + max(int(name.split(".")[2]) for name in translated if name.startswith("predictor._blocks.")),
            heads=inner // head_dim,
            head_dim=head_dim,
            mlp=translated["predictor._blocks.0.expand.weight"].shape[0],
        ),
        vocabulary=vocabulary,
        frameskip=frameskip,
    )
    model = WorldModel(config)
    expected = translated["action_encoder.squeeze.weight"].shape[1]
    if model.encoding.input_dim != expected:
        raise UserError(
            f"the checkpoint takes {expected} action values a step, but {vocabulary} x frameskip {frameskip} "
            f"gives {model.encoding.input_dim}; use vocabulary box<N> with N x frameskip = {expected}"
        )
    missing, unexpected = model.load_state_dict(translated, strict=False)
    lacking = [name for name in missing if not name.startswith(("readout.", "action_scale"))]
    if lacking or unexpected:
        raise UserError(f"not a LeWM checkpoint: lacks {lacking[:3]}, has unknown {unexpected[:3]}")
    return model.eval()


def _translate(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    parts: dict[tuple[str, str], dict[str, Tensor]] = {}
    for name, tensor in state.items():
        if name.endswith("num_batches_tracked"):
            continue
        if match := _QKV.fullmatch(name):
            parts.setdefault((match[1], match[3]), {})[match[2]] = tensor
            continue
        for pattern, ours in _NAMES:
            if re.fullmatch(pattern, name):
                found[re.sub(pattern, ours, name)] = tensor
                break
        else:
            raise UserError(f"not a LeWM checkpoint: it has an unknown tensor {name!r}")
    for (block, kind), tensors in parts.items():
        found[f"encoder.blocks.{block}.qkv.{kind}"] = torch.cat([tensors[letter] for letter in "qkv"])
    for name in ("encoder.positions", "action_encoder.squeeze.weight", "predictor.positions"):
        if name not in found:
            raise UserError(f"not a LeWM checkpoint: it has nothing for {name!r}")
    found["action_encoder.squeeze.weight"] = found["action_encoder.squeeze.weight"].squeeze(-1)
    found["predictor.positions"] = found["predictor.positions"].squeeze(0)
    return found


def peer(module: str) -> types.ModuleType:
    """Import a module of stable-worldmodel, where only its torchvision (no CPU build) is missing.

    It wants one class of torchvision at import time; an empty one stands in for just that long, since other
    packages take a torchvision that they can find for a real one.
    """
    if importlib.util.find_spec("stable_worldmodel") is None:
        raise UserError("stable-worldmodel is not installed; run `make bench`")
    if importlib.util.find_spec("torchvision") is not None:
        return importlib.import_module(f"stable_worldmodel.{module}")
    torchvision, tensors = types.ModuleType("torchvision"), types.ModuleType("torchvision.tv_tensors")
    torchvision.tv_tensors = tensors  # type: ignore[attr-defined]
    tensors.Image = type("Image", (), {})  # type: ignore[attr-defined]
    sys.modules.update({"torchvision": torchvision, "torchvision.tv_tensors": tensors})
    try:
        return importlib.import_module(f"stable_worldmodel.{module}")
    finally:
        del sys.modules["torchvision"], sys.modules["torchvision.tv_tensors"]
