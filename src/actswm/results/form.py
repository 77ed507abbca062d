"""Frozen dataclasses as JSON trees and back, by their type hints; what does not fit raises and is named.

A tree comes from a file that anybody may have written: numbers have limits, and nothing is taken for what it is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from ..origin import Origin

LARGEST = 1e12
"""Beyond this no figure of ours lies; charts have to divide by what they are given."""
T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    low: float
    high: float


Count = Annotated[int, Limits(0, LARGEST)]
Share = Annotated[float, Limits(0, 1)]


def encode(value: Any, digits: int | None = 6) -> Any:
    """The tree of a record. NaN has no place in JSON: null. What a record need not have and has not is left out.

    The parts of its origin stand among the record's own fields.
    """
    if is_dataclass(value):
        tree: dict[str, Any] = {}
        for each in fields(value):
            inner = getattr(value, each.name)
            if isinstance(inner, Origin):
                tree |= encode(inner, digits)
            elif inner not in (None, (), {}) or not _optional(each):
                tree[each.name] = encode(inner, digits)
        return tree
    if isinstance(value, Mapping):
        return {key: encode(inner, digits) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(inner, digits) for inner in value]
    if isinstance(value, float):
        return None if not math.isfinite(value) else value if digits is None else round(value, digits)
    return value


def decode(kind: type[T], tree: Any, name: str = "it") -> T:
    """KeyError for a field that is missing, TypeError or ValueError for one that does not fit."""
    return _decode(kind, tree, name)  # type: ignore[no-any-return]


def _decode(kind: Any, value: Any, name: str) -> Any:
    origin, inside = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if is_dataclass(kind):
        return _record(kind, _of(dict, value, name, "an object"))
    if origin is Annotated:
        found = _decode(inside[0], value, name)
        if not inside[1].low <= found <= inside[1].high:
            raise ValueError(f"{name} is not between {inside[1].low:g} and {inside[1].high:g}")
        return found
    if origin in (Union, UnionType):  # something or None
        return None if value is None else _decode(inside[0], value, name)
    if origin is tuple:
        return tuple(_decode(inside[0], each, name) for each in _of(list, value, name, "a list"))
    if origin is not None:  # a mapping
        return {key: _decode(inside[1], each, key) for key, each in _of(dict, value, name, "an object").items()}
    if kind is float:
        return _number(value, name)
    if kind is int and (isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**64):
        raise ValueError(f"{name} is not a whole number that fits")
    return _of(kind, value, name, {str: "text", bool: "true or false", int: "a whole number"}[kind])


def _record(kind: Any, tree: Mapping[str, Any]) -> Any:
    hints, given = _hints(kind), {}
    for each in fields(kind):
        if hints[each.name] is Origin:
            given[each.name] = _record(hints[each.name], tree)
        elif tree.get(each.name) is not None or not _optional(each):
            given[each.name] = _decode(hints[each.name], tree[each.name], each.name)
    return kind(**given)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _optional(each: Any) -> bool:
    return each.default is not MISSING or each.default_factory is not MISSING


def _number(value: Any, name: str) -> float:
    """NaN for null."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {_kind(value)}, not a number")
    if abs(value) > LARGEST:
        raise ValueError(f"{name} is too large")
    return float(value)


def _of(kind: type[Any], value: Any, name: str, wanted: str) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {_kind(value)}, not {wanted}")
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
