"""Tables of planning: one task in full, or several side by side."""

from __future__ import annotations

from collections.abc import Sequence

from ...results import MethodResult, Plan
from .markdown import percent, table
from .rows import Names, Source, of_kind, own_name


def plan_table(sources: Sequence[Source], names: Names, only: Sequence[str]) -> str:
    tasks: dict[str, dict[str, MethodResult]] = {}
    for _, result in of_kind(sources, Plan):
        methods = tasks.setdefault(own_name(result.task), {})
        for method in result.methods:
            methods.setdefault(own_name(method.method), method)
    if len(tasks) == 1:
        ((task, methods),) = tasks.items()
        rows = [(label, *_in_full(method)) for label, method in names.ordered(methods, only=only)]
        return table((task, "successes", "95 % interval", "chunks to success", "CPU seconds a plan"), rows)
    everywhere = [
        name for name in next(iter(tasks.values())) if all(name in methods for methods in tasks.values())
    ]
    shared = {name: [methods[name] for methods in tasks.values()] for name in everywhere}
    rows = [(label, *_beside(found)) for label, found in names.ordered(shared, only=only)]
    total = sum(method.episodes for method in next(iter(shared.values())))
    return table(("method", *tasks, f"of {total}", "CPU seconds a plan"), rows)


def _in_full(method: MethodResult) -> tuple[str, ...]:
    chunks = "" if method.chunks_to_success is None else f"{method.chunks_to_success:.1f}"
    return f"{method.successes} of {method.episodes}", _interval(method), chunks, _seconds(method)


def _beside(methods: Sequence[MethodResult]) -> tuple[str, ...]:
    counts = (f"{method.successes} ({_interval(method)})" for method in methods)
    return *counts, str(sum(method.successes for method in methods)), " ".join(map(_seconds, methods)).strip()


def _interval(method: MethodResult) -> str:
    return f"{percent(method.low)} to {percent(method.high)}".replace("%", " %")


def _seconds(method: MethodResult) -> str:
    return f"{method.plan_cpu_seconds:.2f}" if method.plan_cpu_seconds else ""
