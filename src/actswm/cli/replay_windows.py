"""Which windows of a replay were asked for, and how they are listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ..errors import UserError
from .printing import text_console

if TYPE_CHECKING:
    from ..curation.replay.windows import WindowRules
    from ..formats.replay import Replay, Window

PLAYERS = typer.Option("", help="Only these: names, account ids or slots, with commas.")
ROUNDS = typer.Option("", help="Only these: numbers with commas, or from-to.")
FREEZE = typer.Option(False, "--freeze-time", help="Keep the time in which nobody can move yet.")
MIN_SECONDS = typer.Option(1.0, min=0.0, help="Leave out shorter windows.")
MOST_ROUNDS = 10_000


def choose(
    replay: Replay, players: str, rounds: str, freeze_time: bool, min_seconds: float
) -> tuple[WindowRules, tuple[Window, ...]]:
    from ..curation.replay.windows import WindowRules, windows_of

    names = tuple(word.strip() for word in players.split(",") if word.strip())
    rules = WindowRules(names, round_numbers(rounds), freeze_time, min_seconds)
    chosen = windows_of(replay, rules)
    if not chosen:
        missing = f"; missing: {'; '.join(replay.missing)}" if replay.missing else ""
        raise UserError(
            f"{replay.path}: has no window of at least {min_seconds:g} s that was asked for{missing}"
        )
    return rules, chosen


def round_numbers(text: str) -> tuple[int, ...]:
    """`1,3,5-8`."""
    found: list[int] = []
    try:
        for word in filter(None, text.replace(" ", "").split(",")):
            first, dash, last = word.partition("-")
            start, end = int(first), int(last if dash else first)
            if not start <= end < start + MOST_ROUNDS:
                raise ValueError
            found += range(start, end + 1)
    except ValueError:
        raise UserError(f"--rounds {text!r} is not a list of numbers such as 1,3,5-8") from None
    return tuple(found)


def show_windows(replay: Replay, chosen: tuple[Window, ...]) -> None:
    from rich.table import Table

    from ..curation.replay.windows import hours, tick_rate_of

    table = Table("round", "slot", "player", "from tick", "to tick", "seconds")
    for one in chosen:
        seconds = f"{one.ticks / tick_rate_of(replay):.1f}"
        table.add_row(str(one.round), str(one.slot), one.player, str(one.start), str(one.end), seconds)
    console = text_console()
    console.print(table)
    console.print(f"{len(chosen)} windows, {hours(replay, chosen):.4f} hours")
