"""What demoparser2 reads: header with the patch, events, game time, and the ticks of players with accounts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UserError
from ..replay import Player, Track
from .part import EVENTS, TEAMS, Part, account_of, pressed_by_name, pressed_of, slot_of

NAMED = {
    "W": "FORWARD", "A": "LEFT", "S": "BACK", "D": "RIGHT", "Fire": "FIRE", "Aim": "RIGHTCLICK",
    "Reload": "RELOAD", "Shift": "is_walking",
}  # fmt: skip
"""Restored even where the demo of a newer patch has no raw masks."""
STATES = ["is_alive", "pitch", "yaw", "buttons", "user_id", "team_num", "game_time", *NAMED.values()]


def read(path: Path) -> Part:
    try:
        from demoparser2 import DemoParser
    except ImportError as error:
        raise UserError(f"CS2 demos need demoparser2 ({error}): pip install 'actswm[cs2]'") from None
    part = Part("demoparser2")
    parser = part.attempt("header", lambda: DemoParser(str(path)))
    if parser is None:
        return part
    part.header = part.attempt("header", parser.parse_header) or {}
    known = part.attempt("events", lambda: set(parser.list_game_events())) or set()
    for name in EVENTS:
        if name in known:
            found = part.attempt(f"event {name}", partial(parser.parse_event, name, player=["user_id"]))
            if found is not None and len(found):
                part.events[name] = [_user_ids(row) for row in found.to_dict("records")]
    table = part.attempt("per-tick states", lambda: parser.parse_ticks(STATES))
    if table is not None and len(table):
        part.attempt("per-tick states", lambda: _take_ticks(part, table))
    return part


def _user_ids(row: dict[str, Any]) -> dict[str, Any]:
    """The names that the game gives: `userid` and `attacker`."""
    return {**row, "userid": row.get("user_user_id"), "attacker": row.get("attacker_user_id")}


def _take_ticks(part: Part, table: Any) -> None:
    times = table.groupby("tick")["game_time"].first().dropna()
    if len(times) > 1:
        # The median step, so that a pause or a jump of the clock does not count.
        steps = np.diff(times.to_numpy()) / np.diff(times.index.to_numpy())
        if np.median(steps) > 0:
            part.tick_rate = float(1 / np.median(steps))
    for user, rows in table.groupby("user_id"):
        rows = rows.sort_values("tick")
        last = rows.iloc[-1]
        slot = slot_of(user)
        part.players[slot] = Player(
            str(last["name"]), slot, slot - 1, account_of(last["steamid"]), TEAMS.get(last["team_num"], "")
        )
        masks = rows["buttons"].fillna(0).to_numpy().astype(np.int64)
        named = {
            control: rows[column].fillna(False).to_numpy().astype(bool)
            for control, column in NAMED.items()
            if column in rows
        }
        part.tracks[slot] = Track(
            slot=slot,
            tick=rows["tick"].to_numpy().astype(np.int64),
            alive=rows["is_alive"].fillna(False).to_numpy().astype(bool),
            yaw=rows["yaw"].ffill().fillna(0.0).to_numpy().astype(np.float32),
            pitch=rows["pitch"].ffill().fillna(0.0).to_numpy().astype(np.float32),
            pressed=pressed_of(masks) if masks.any() else pressed_by_name(named, len(rows)),
        )
