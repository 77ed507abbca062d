"""ActSWM: action-sensitive latent world models for games.

`from actswm import WorldModel` and friends load torch only when asked for. The games are known to Gymnasium from here
on, whichever of the two is imported first.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .gymnasium_ids import register_when_imported

__version__ = "0.1.0"

_EXPORTS = {
    "KEYS14": "controls",
    "MINECRAFT": "controls",
    "ActionEncoding": "controls",
    "Control": "controls",
    "Vocabulary": "controls",
    "DatasetFile": "data",
    "DatasetSpec": "data",
    "DatasetWriter": "data",
    "Context": "model",
    "ModelConfig": "model",
    "WorldModel": "model",
}
__all__ = ["__version__", *_EXPORTS]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'actswm' has no attribute {name!r}")
    return getattr(import_module(f".{_EXPORTS[name]}", __name__), name)


register_when_imported()
