"""Do published figures come out again? Compare a result with a stored one, value by value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..json_files import read_json

HISTORY = ("command", "commit", "machine", "version")
"""What made a result: no part of it."""


@dataclass(frozen=True)
class Difference:
    """A stored value that did not come out again; `measured` is None where there is none."""

    place: str
    expected: float | str
    measured: float | str | None

    def __str__(self) -> str:
        found = "nothing" if self.measured is None else _shown(self.measured)
        return f"{self.place}: {_shown(self.expected)} expected, {found} measured"


def read_expected(path: Path) -> Any:
    """A result as `--json` wrote it."""
    try:
        tree = read_json(path)
        for _ in _leaves(tree):  # every figure is a number that fits
            pass
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; write one with --json") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError, OverflowError) as error:
        raise UserError(f"{path}: not valid JSON of a result ({error})") from None
    return tree


def differences(expected: Any, measured: Any, tolerance: float) -> list[Difference]:
    """Every number and text of `expected` against what is at the same place of `measured`.

    Texts must be equal. Numbers are equal within `tolerance` (relative above 1), or if both are missing (null).
    More in `measured` is fine.
    """
    found = dict(_leaves(measured))
    wrong = []
    for place, value in _leaves(expected):
        other = found.get(place)
        if other is None or not _equal(value, other, tolerance):
            wrong.append(Difference(".".join(map(str, place)), value, other))
    return wrong


def _shown(value: float | str) -> str:
    return repr(value) if isinstance(value, str) else f"{value:.4f}"


def _equal(one: float | str, other: float | str, tolerance: float) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return abs(one - other) <= tolerance * max(1.0, abs(one))


def _leaves(
    tree: Any, place: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], float | str]]:
    """All numbers and texts with the keys and indices that lead to them."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if place or key not in HISTORY:
                yield from _leaves(value, (*place, key))
    elif isinstance(tree, (list, tuple)):
        for index, value in enumerate(tree):
            yield from _leaves(value, (*place, index))
    elif tree is None:
        yield place, math.nan
    elif isinstance(tree, (int, float)):
        yield place, float(tree)
    elif isinstance(tree, str):
        yield place, tree
