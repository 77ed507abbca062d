"""Do published figures come out again? Compare a result with a stored one, number by number."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError


@dataclass(frozen=True)
class Difference:
    """A stored figure that did not come out again; `measured` is None where there is none."""

    place: str
    expected: float
    measured: float | None

    def __str__(self) -> str:
        found = "nothing" if self.measured is None else f"{self.measured:.4f}"
        return f"{self.place}: {self.expected:.4f} expected, {found} measured"


def read_expected(path: Path) -> Any:
    """A result as `--json` wrote it."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; write one with --json") from None
    except ValueError as error:
        raise UserError(f"{path}: not valid JSON ({error})") from None


def differences(expected: Any, measured: Any, tolerance: float) -> list[Difference]:
    """Every number of `expected` against the one at the same place of `measured`.

    Equal means within `tolerance` (relative above 1), or missing (null) in both. More in `measured` is fine.
    """
    found = dict(_numbers(measured))
    wrong = []
    for place, value in _numbers(expected):
        other = found.get(place)
        if other is None or not _close(value, other, tolerance):
            wrong.append(Difference(".".join(map(str, place)), value, other))
    return wrong


def _close(one: float, other: float, tolerance: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return abs(one - other) <= tolerance * max(1.0, abs(one))


def _numbers(tree: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], float]]:
    """All numbers with the keys and indices that lead to them."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _numbers(value, (*place, key))
    elif isinstance(tree, (list, tuple)):
        for index, value in enumerate(tree):
            yield from _numbers(value, (*place, index))
    elif tree is None:
        yield place, math.nan
    elif isinstance(tree, (int, float)):
        yield place, float(tree)
