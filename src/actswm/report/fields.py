"""Fields of a JSON file, each of the kind that the page can show; what is not raises and is named."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

LARGEST = 1e12
"""Beyond this no figure of ours lies; charts have to divide by what they are given."""


def text(tree: Mapping[str, Any], name: str, absent: str | None = None) -> str:
    """`absent`: what stands for a field that is missing or null; without it there must be one."""
    value = tree[name] if absent is None else tree.get(name)
    if value is None and absent is not None:
        return absent
    if not isinstance(value, str):
        raise TypeError(f"{name} is {_kind(value)}, not text")
    return value


def number(tree: Mapping[str, Any], name: str) -> float:
    """NaN for null, as the commands write what is no number."""
    value = tree[name]
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {_kind(value)}, not a number")
    if abs(value) > LARGEST:
        raise ValueError(f"{name} is too large")
    return float(value)


def maybe_number(tree: Mapping[str, Any], name: str) -> float | None:
    return None if tree.get(name) is None else number(tree, name)


def count(tree: Mapping[str, Any], name: str, least: int = 0) -> int:
    value = tree[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
        raise ValueError(f"{name} is not a whole number from {least} on")
    return value


def seed(tree: Mapping[str, Any], name: str = "seed") -> int | None:
    value = tree.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise TypeError(f"{name} is {_kind(value)}, not a whole number")
    if value is not None and abs(value) >= 2**64:
        raise ValueError(f"{name} is too large")
    return value


def share(tree: Mapping[str, Any], name: str) -> float:
    value = number(tree, name)
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is not between 0 and 1")
    return value


def flag(tree: Mapping[str, Any], name: str) -> bool:
    if not isinstance(tree[name], bool):
        raise TypeError(f"{name} is {_kind(tree[name])}, not true or false")
    return tree[name]


def part(tree: Mapping[str, Any], name: str) -> dict[str, Any]:
    return _of(dict, tree[name], name, "an object")


def parts(tree: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """A list of objects."""
    return [_of(dict, each, name, "a list of objects") for each in rows(tree, name)]


def rows(tree: Mapping[str, Any], name: str) -> list[Any]:
    return _of(list, tree[name], name, "a list")


def _of(kind: type[Any], value: Any, name: str, wanted: str) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {_kind(value)}, not {wanted}")
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
