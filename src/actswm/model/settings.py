"""Plain settings from YAML, JSON or the command line become typed dataclasses. Values are taken as they stand:
an interpolation (`${oc.env:...}`) would let a downloaded file read this machine's environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ..errors import UserError

Kind = TypeVar("Kind")


def typed_settings(kind: type[Kind], *layers: Any) -> Kind:
    """The dataclass `kind` with the settings of each layer over those before it."""
    merged = OmegaConf.structured(kind)
    try:
        for layer in layers:
            if not isinstance(layer, Mapping):
                raise UserError(f"bad setting: {_short(layer)} stands where settings by name should be")
            for name, text in _texts(layer):
                if "${" in text:
                    raise UserError(f"bad setting: {name} holds {_short(text)}; write the value itself")
            merged = OmegaConf.merge(merged, layer)
        made = OmegaConf.to_object(merged)
    except (OmegaConfBaseException, ValueError, TypeError, AttributeError) as error:
        raise UserError(f"bad setting: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise UserError("bad setting: nested too deeply") from None
    assert isinstance(made, kind)
    return made


def _texts(tree: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """All strings in the tree, keys too, with their dotted names."""
    if isinstance(tree, str):
        yield name, tree
    elif isinstance(tree, Mapping):
        for key, value in tree.items():
            inner = f"{name}.{key}" if name else str(key)
            yield inner, str(key)
            yield from _texts(value, inner)
    elif isinstance(tree, (list, tuple)):
        for value in tree:
            yield from _texts(value, name)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
