"""A Markdown table, and how figures stand in its cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ...intervals import Estimate


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, *rows]
    text = [f"| {' | '.join(cells)} |" for cells in lines]
    return "\n".join([text[0], "|" + "---|" * len(head), *text[1:]])


def share(value: float, digits: int = 2) -> str:
    """`.96`: no zero before the point, and no negative zero; nothing where there is no number."""
    if math.isnan(value):
        return ""
    text = f"{round(value, digits) + 0.0:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 and text.lstrip("-").startswith("0.") else text


def whole(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.0f}"


def percent(value: float, digits: int = 0) -> str:
    return f"{value:.{digits}%}"


def with_interval(estimate: Estimate) -> str:
    return "" if math.isnan(estimate.mean) else f"{share(estimate.mean)} ±{share(estimate.half_width)}"


def over_steps(estimates: Sequence[Estimate], steps: Sequence[int], spread: int) -> str:
    """The means at `steps`, and in brackets half the interval's width at the step `spread`."""
    means = " ".join(share(estimates[step - 1].mean) for step in steps if step <= len(estimates))
    return f"{means} (±{share(estimates[min(spread, len(estimates)) - 1].half_width)})"
