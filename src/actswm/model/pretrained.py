"""Save and load a world model: `config.json`, `model.safetensors` and a model card. No pickle."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from .. import __version__
from ..atomic import write_whole
from ..errors import UserError
from ..hub import put
from ..json_files import write_json
from ..saved_models import CARD_FILE, CONFIG_FILE, FILES, WEIGHTS_FILE, locate, read_config
from .card import model_card
from .config import ModelConfig
from .fit import require_finite, require_fit
from .settings import typed_settings
from .world_model import WorldModel


def save_pretrained(
    model: WorldModel,
    directory: str | os.PathLike[str],
    provenance: Mapping[str, Any] | None = None,
    dtype: torch.dtype | None = None,
    push_to_hub: str | None = None,
) -> Path:
    """Write everything needed to use the weights. `provenance`: command, data, seed, steps, scores, licence.

    `push_to_hub`: also put them on the Hugging Face hub, as `user/repo`.
    """
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
    write_json(target / CONFIG_FILE, content)
    write_whole(target / CARD_FILE, model_card(model, content["provenance"], push_to_hub or "this/folder"))
    if push_to_hub:
        put(target, push_to_hub, FILES)
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
    require_fit(lambda: WorldModel(config), state, source / CONFIG_FILE, source / WEIGHTS_FILE)
    require_finite(state, str(source / WEIGHTS_FILE))
    model = WorldModel(config)
    if list(model.encoding.vocabulary.names) != content["control_names"]:
        raise UserError(
            f"{source / CONFIG_FILE}: its controls are not those of vocabulary {config.vocabulary!r}"
        )
    model.load_state_dict({name: tensor.float() for name, tensor in state.items()})
    return model.eval()
