"""How commands leave their results: progress, JSON, CSV, and a check against stored figures."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from ..data import WindowSample
    from ..intervals import Estimate
    from ..results import Result

from ..atomic import written_whole
from .bars import bars
from .printing import say


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """One bar; yields what to tell the number of things done."""
    with bars() as move:
        yield lambda done: move(label, done, total)


def warn_of_one_episode(sample: WindowSample) -> None:
    if sample.episodes == 1:
        say(
            f"all {len(sample)} windows come from one episode: shuffled actions and random futures are of the same "
            "place, and intervals are too narrow; record more episodes, or use --split all on a recording that "
            "nothing was trained on",
            err=True,
        )


def short(estimate: Estimate) -> str:
    """Mean and half the interval's width, narrow enough for a terminal's table."""
    if math.isnan(estimate.mean):
        return "-"
    return f"{estimate.mean:.3f} ±{estimate.half_width:.3f}"


def save_csv(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    with written_whole(path) as temporary, open(temporary, "w", newline="") as file:
        csv.writer(file).writerows(rows)


def require_expected(expect: Path | None, result: Result, tolerance: float) -> None:
    """Exit with 1 and name the figures that did not come out again."""
    if expect is None:
        return
    from ..diagnosis.reproduction import differences, read_expected
    from ..results import result_tree

    wrong = differences(read_expected(expect), result_tree(result), tolerance)
    for difference in wrong[:20]:
        say(str(difference), err=True)
    if wrong:
        say(f"{len(wrong)} figures of {expect} do not come out again", err=True)
        raise typer.Exit(1)
    say(f"all figures of {expect} come out again within {tolerance:g}")
