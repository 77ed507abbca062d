"""Rounds from the game's events; by tick, because the last kill of a round may carry the next round's number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..replay import Round


def rounds_of(
    events: Mapping[str, Sequence[Mapping[str, Any]]], first_tick: int, last_tick: int
) -> tuple[Round, ...]:
    """A demo may begin or end inside a round: what is missing of it is the demo's own begin or end."""
    names = ("round_officially_ended", "round_end", "round_start", "round_freeze_end")
    marks = sorted(
        (int(row["tick"]), order, name) for order, name in enumerate(names) for row in events.get(name, [])
    )
    rounds: list[Round] = []
    begin: int | None = None
    live: int | None = None
    after = first_tick
    """The first tick that no round has taken."""

    def close(end: int) -> None:
        nonlocal begin, live, after
        if begin is not None and end > begin:
            rounds.append(Round(len(rounds) + 1, begin, end, live))
            after = end + 1
        begin = live = None

    for tick, _, name in marks:
        if name == "round_start":
            close(tick - 1)
            begin = tick
        elif name == "round_freeze_end":
            if begin is not None and live is not None:
                close(tick - 1)
            begin = after if begin is None else begin
            live = tick
        else:
            close(tick)
    close(last_tick)
    return tuple(rounds)
