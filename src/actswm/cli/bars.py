"""Progress bars on standard error, which appear with the first news: bad arguments show one line and no bar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Bars(Protocol):
    def __call__(self, bar: str, done: int, total: int, note: str = "") -> None: ...


@contextmanager
def bars() -> Iterator[Bars]:
    """A function that moves the bar of a name, making it if there is none yet."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    shown = Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    tasks = {}

    def move(bar: str, done: int, total: int, note: str = "") -> None:
        shown.start()
        if bar not in tasks:
            tasks[bar] = shown.add_task(bar, total=total, note=note)
        shown.update(tasks[bar], completed=done, total=total, note=note)

    try:
        yield move
    finally:
        if tasks:  # a bar that never began would leave an empty line
            shown.stop()
