"""Progress bars on standard error, which appear with the first news: bad arguments show one line and no bar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from .printing import shown, text_console


class Bars(Protocol):
    def __call__(self, bar: str, done: int, total: int, note: str = "") -> None: ...


@contextmanager
def bars(rate: str = "") -> Iterator[Bars]:
    """A function that moves the bar of a name, making it if there is none yet.

    `rate` names what is counted where its speed is worth knowing.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    progress = Progress(
        TextColumn("{task.description}", style="bold", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeRemainingColumn(),
        console=text_console(stderr=True),
    )
    tasks = {}

    def move(bar: str, done: int, total: int, note: str = "") -> None:
        progress.start()
        if bar not in tasks:
            tasks[bar] = progress.add_task(shown(bar), total=total, note=shown(note))
        if rate and (speed := progress.tasks[tasks[bar]].speed):
            note = f"{speed:,.0f} {rate}/s"
        progress.update(tasks[bar], completed=done, total=total, note=shown(note))

    try:
        yield move
    finally:
        if tasks:  # a bar that never began would leave an empty line
            progress.stop()
