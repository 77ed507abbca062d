"""A saved inverse-dynamics model: a folder with its configuration and its weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from ..atomic import write_whole
from ..errors import UserError
from ..json_files import read_json, write_json
from ..model.fit import require_finite, require_fit

CONFIG_FILE = "idm.json"
WEIGHTS_FILE = "idm.safetensors"
_UNSOUND = (SafetensorError, RuntimeError)
Model = TypeVar("Model", bound=nn.Module)


def write_idm(folder: Path, config: Any, state: Mapping[str, Tensor], provenance: Mapping[str, Any]) -> None:
    weights = save({name: part.cpu().contiguous() for name, part in state.items()})
    write_whole(folder / WEIGHTS_FILE, weights)
    content = {"config": asdict(config), "provenance": dict(provenance)}
    write_json(folder / CONFIG_FILE, content)


def read_idm(folder: Path, build: Callable[[dict[str, Any]], Model]) -> Model:
    """The model that `build` makes of its configuration, with its weights; whatever is wrong is told in one line."""
    try:
        config = read_json(folder / CONFIG_FILE)["config"]
        state = load_file(folder / WEIGHTS_FILE)
        require_fit(lambda: build(config), state, folder / CONFIG_FILE, folder / WEIGHTS_FILE)
        require_finite(state, str(folder / WEIGHTS_FILE))
        model = build(config)
        model.load_state_dict(state)
    except FileNotFoundError as error:
        raise UserError(f"{folder}: not a saved idm (no {Path(error.filename or WEIGHTS_FILE).name})") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError, *_UNSOUND) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{folder}: not a sound idm ({reason}); train it again") from None
    return model.eval()


def read_provenance(folder: Path) -> dict[str, Any]:
    """What a folder that `read_idm` takes says of its making."""
    told = read_json(folder / CONFIG_FILE).get("provenance")
    return told if isinstance(told, dict) else {}
