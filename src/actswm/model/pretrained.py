"""Save and load a world model: `config.json`, `model.safetensors` and a model card. No pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from .. import __version__
from ..errors import UserError
from .config import ModelConfig
from .world_model import WorldModel

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
CARD_FILE = "README.md"
SHIPPED = Path(__file__).parents[1] / "weights"
"""Weights that come with the package: <data>/<variant>."""


def save_pretrained(
    model: WorldModel,
    directory: str | os.PathLike[str],
    provenance: Mapping[str, Any] | None = None,
    dtype: torch.dtype | None = None,
) -> Path:
    """Write everything needed to use the weights. `provenance`: command, data, seed, steps, scores."""
    target = Path(directory)
    target.mkdir(parents=True, exist_ok=True)
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
    temporary = target / f".{WEIGHTS_FILE}.tmp"
    save_file(state, temporary, metadata={"format": "pt"})
    os.replace(temporary, target / WEIGHTS_FILE)
    _write(target / CONFIG_FILE, json.dumps(content, indent=2) + "\n")
    _write(target / CARD_FILE, model_card(model, content["provenance"]))
    return target


def locate(model: str | os.PathLike[str]) -> Path:
    """The folder that holds a model: the folder itself, a run's `model`, or shipped weights by name."""
    folder = Path(model)
    for candidate in (folder, folder / "model", SHIPPED / folder):
        if (candidate / CONFIG_FILE).is_file():
            return candidate
    shipped = ", ".join(
        sorted(str(path.parent.relative_to(SHIPPED)) for path in SHIPPED.glob(f"*/*/{CONFIG_FILE}"))
    )
    raise UserError(f"{folder}: not a saved model (no {CONFIG_FILE}), and not one that ships: {shipped}")


def load_pretrained(directory: str | os.PathLike[str]) -> WorldModel:
    """The model in evaluation mode, in fp32 whatever the file holds. `directory`: see `locate`."""
    source = locate(directory)
    content = read_config(source)
    try:
        config = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(ModelConfig), content["model"]))
    except OmegaConfBaseException as error:
        raise UserError(f"{source / CONFIG_FILE}: {str(error).splitlines()[0]}") from None
    assert isinstance(config, ModelConfig)
    model = WorldModel(config)
    if list(model.encoding.vocabulary.names) != content["control_names"]:
        raise UserError(
            f"{source / CONFIG_FILE}: its controls are not those of vocabulary {config.vocabulary!r}"
        )
    try:
        state = load_file(source / WEIGHTS_FILE)
        model.load_state_dict({name: tensor.float() for name, tensor in state.items()})
    except FileNotFoundError:
        raise UserError(f"{source}: has no {WEIGHTS_FILE}") from None
    except (SafetensorError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:300]
        raise UserError(f"{source / WEIGHTS_FILE}: does not fit {CONFIG_FILE}: {reason}") from None
    return model.eval()


def read_config(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """`config.json`: model, control names and provenance."""
    path = locate(directory) / CONFIG_FILE
    try:
        content = json.loads(path.read_text())
    except ValueError as error:
        raise UserError(f"{path}: not valid JSON ({error})") from None
    for key in ("model", "control_names", "provenance"):
        if key not in content:
            raise UserError(f"{path}: has no {key!r}; it was not written by actswm")
    return content


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


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text)
    os.replace(temporary, path)
