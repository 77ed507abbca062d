"""Success rates of planners as bars with their intervals, one panel a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..results import Plan
from .colours import shades
from .look import GREY, new_figure, save_figure, styled


def plot_successes(plans: Sequence[Plan], path: Path) -> None:
    """Draw into a PNG. A model has its colour in every panel; what does not plan is grey.

    Results of one task are one panel, planners first; of a method that is in several of them the first counts.
    """
    plans = _by_task(plans)
    names = [_short(method.method) for plan in plans for method in plan.methods if method.plan_cpu_seconds]
    colours = shades(names)
    rows = max(len(plan.methods) for plan in plans)
    with styled():
        figure = new_figure(1.2 + 2.6 * len(plans), 1.1 + 0.3 * rows)
        for axes, plan in zip(figure.subplots(1, len(plans), squeeze=False)[0], plans):
            _draw(axes, plan, colours)
        save_figure(figure, path)


def _by_task(plans: Sequence[Plan]) -> list[Plan]:
    tasks: dict[str, Plan] = {}
    for plan in plans:
        known = tasks.setdefault(plan.task, plan)
        names = [method.method for method in known.methods]
        more = (method for method in plan.methods if method.method not in names)
        tasks[plan.task] = replace(known, methods=(*known.methods, *more))
    return [
        replace(plan, methods=tuple(sorted(plan.methods, key=lambda method: not method.plan_cpu_seconds)))
        for plan in tasks.values()
    ]


def _draw(axes, plan: Plan, colours: dict[str, str]) -> None:  # type: ignore[no-untyped-def]
    shown = [_short(method.method) for method in plan.methods]
    for row, (name, method) in enumerate(zip(shown, plan.methods)):
        rate = method.successes / method.episodes
        whiskers = [[max(0.0, rate - method.low)], [max(0.0, method.high - rate)]]
        axes.barh(row, rate, 0.7, color=colours.get(name, GREY), xerr=whiskers, ecolor="#333333", capsize=2)
        axes.text(1.03, row, f"{method.successes}/{method.episodes}", va="center", fontsize=8)
    axes.set_yticks(range(len(shown)), shown)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set(title=plan.task, xlabel="success rate", xlim=(0, 1.2))
    axes.set_xticks([0, 0.5, 1])


def _short(name: str) -> str:
    return name.rsplit("/", 1)[-1]
