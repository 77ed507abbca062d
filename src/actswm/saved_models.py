"""Where saved models are, and what they say of themselves: all that can be known of one without loading it."""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path
from typing import Any

from .errors import UserError

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
SHIPPED = Path(__file__).parent / "weights"
"""Weights that come with the package: <data>/<variant>."""


def locate(model: str | os.PathLike[str]) -> Path:
    """The folder that holds a model: the folder itself, a run's `model`, or shipped weights by name."""
    folder = Path(model)
    for candidate in (folder, folder / "model", SHIPPED / folder):
        if (candidate / CONFIG_FILE).is_file():
            return candidate
    near = difflib.get_close_matches(str(folder), shipped_names(), 1, 0.6)
    hint = f"; did you mean {near[0]!r}?" if near else f", and not one that ships: {', '.join(shipped_names())}"
    raise UserError(f"{folder}: not a saved model (no {CONFIG_FILE}){hint}")


def shipped_names() -> list[str]:
    return sorted(str(path.parent.relative_to(SHIPPED)) for path in SHIPPED.glob(f"*/*/{CONFIG_FILE}"))


def read_config(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """`config.json`: model, control names and provenance."""
    path = locate(directory) / CONFIG_FILE
    try:
        content = json.loads(path.read_text())
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON ({error})") from None
    for key, kind in (("model", dict), ("control_names", list), ("provenance", dict)):
        if not isinstance(content, dict) or not isinstance(content.get(key), kind):
            raise UserError(f"{path}: has no {key!r}; it was not written by actswm")
    return content
