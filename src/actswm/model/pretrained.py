"""Save and load a world model: `config.json`, `model.safetensors` and a model card. No pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch.overrides import TorchFunctionMode

from .. import __version__
from ..atomic import write_whole
from ..errors import UserError
from ..saved_models import CONFIG_FILE, WEIGHTS_FILE, locate, read_config
from .config import ModelConfig
from .settings import typed_settings
from .world_model import WorldModel

CARD_FILE = "README.md"


def save_pretrained(
    model: WorldModel,
    directory: str | os.PathLike[str],
    provenance: Mapping[str, Any] | None = None,
    dtype: torch.dtype | None = None,
) -> Path:
    """Write everything needed to use the weights. `provenance`: command, data, seed, steps, scores."""
    target = Path(directory)
    content: dict[str, Any] = {
        "actswm_version": __version__,
        "model": asdict(model.config),
        "control_names": list(model.encoding.vocabulary.names),
        "provenance": dict(provenance or {}),
    }
    state = {
        name: tensor.detach().to("cpu", dtype if tensor.is_floating_point() else None).contiguous()
        for name, tensor in model.state_dict().items()
    }
    require_finite(state, f"{target}: not written")
    write_whole(target / WEIGHTS_FILE, save(state, metadata={"format": "pt"}))
    write_whole(target / CONFIG_FILE, json.dumps(content, indent=2) + "\n")
    write_whole(target / CARD_FILE, model_card(model, content["provenance"]))
    return target


def load_pretrained(directory: str | os.PathLike[str]) -> WorldModel:
    """The model in evaluation mode, in fp32 whatever the file holds. `directory`: see `locate`."""
    source = locate(directory)
    content = read_config(source)
    try:
        config = typed_settings(ModelConfig, content["model"])
    except UserError as error:
        raise UserError(f"{source / CONFIG_FILE}: {error}") from None
    try:
        state = load_file(source / WEIGHTS_FILE)
    except FileNotFoundError:
        raise UserError(f"{source}: has no {WEIGHTS_FILE}") from None
    except (SafetensorError, OSError) as error:
        raise UserError(f"{source / WEIGHTS_FILE}: cannot be read ({error}); copy it again") from None
    _require_fit(config, state, source)
    require_finite(state, str(source / WEIGHTS_FILE))
    model = WorldModel(config)
    if list(model.encoding.vocabulary.names) != content["control_names"]:
        raise UserError(
            f"{source / CONFIG_FILE}: its controls are not those of vocabulary {config.vocabulary!r}"
        )
    model.load_state_dict({name: tensor.float() for name, tensor in state.items()})
    return model.eval()


def require_finite(state: Mapping[str, torch.Tensor], where: str) -> None:
    """A model with one NaN predicts NaN everywhere, and every figure of it is nonsense."""
    for name, tensor in state.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            count = int((~torch.isfinite(tensor)).sum())
            raise UserError(
                f"{where}: {count} of {tensor.numel()} values of {name} are not finite (NaN, or too large for "
                f"{str(tensor.dtype).removeprefix('torch.')}); train again from an earlier checkpoint"
            )


def _require_fit(config: ModelConfig, state: Mapping[str, torch.Tensor], source: Path) -> None:
    """Compare shapes before anything is allocated: a damaged configuration may ask for any amount of memory."""
    try:
        with _ShapesOnly():
            expected = {name: tensor.shape for name, tensor in WorldModel(config).state_dict().items()}
    except UserError as error:
        raise UserError(f"{source / CONFIG_FILE}: {error}") from None
    except Exception as error:  # whatever torch's layers say to sizes that are none
        reason = " ".join(str(error).split())[:300]
        raise UserError(f"{source / CONFIG_FILE}: makes no model ({reason})") from None
    found = {name: tensor.shape for name, tensor in state.items()}
    for name in [*expected, *found]:
        if expected.get(name) != found.get(name):
            held, wanted = (tuple(each[name]) if name in each else "absent" for each in (found, expected))
            raise UserError(
                f"{source / WEIGHTS_FILE}: does not fit {CONFIG_FILE}: {name} is {held}, not {wanted}"
            )


class _ShapesOnly(TorchFunctionMode):
    """Inside, new parameters have shapes and no memory. (`torch.device("meta")` would load torch's compiler.)"""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in (torch.empty, torch.zeros, torch.ones, torch.randn):
            return torch.empty(*args, **{**kwargs, "device": "meta"})
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


def model_card(model: WorldModel, provenance: Mapping[str, Any]) -> str:
    """A page that says what the weights are, how to load them and how they came about."""
    config = model.config
    size = sum(parameter.numel() for parameter in model.parameters())
    lines = [
        "# ActSWM world model",
        "",
        f"{size / 1e6:.2f} M parameters: {config.encoder} encoder at {config.image_size} px, latent "
        f"{config.latent_dim}, context {config.predictor.context}, predictor depth {config.predictor.depth}.",
        f"Controls: {config.vocabulary} ({', '.join(model.encoding.vocabulary.names)}), "
        f"`{config.encoding}` encoding, frameskip {config.frameskip}.",
        "",
        "```python",
        "from actswm import WorldModel",
        'model = WorldModel.from_pretrained("this/folder")',
        "```",
        "",
        "## Provenance",
        "",
        *(f"- {key}: `{json.dumps(value)}`" for key, value in provenance.items()),
    ]
    return "\n".join(lines) + "\n"
