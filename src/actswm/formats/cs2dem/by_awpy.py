"""What awpy reads: header, events, and every player's ticks, bots included."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UserError
from ..replay import Player, Track
from .part import EVENTS, TEAMS, Part, account_of, pressed_of, slot_of

CONTROLLER, ANGLES, LIFE = "m_hController", "m_angEyeAngles", "m_lifeState"
BUTTONS = "m_pMovementServices.m_nButtonDownMaskPrev"
ENTITY_BITS = 14
"""The lower bits of a handle: the entity's number, which for a controller is the player's slot."""


def read(path: Path) -> Part:
    try:
        import awpy
    except ImportError as error:
        raise UserError(f"CS2 demos need awpy ({error}): pip install 'actswm[cs2]'") from None
    part = Part("awpy")
    demo = part.attempt("header", lambda: awpy.Demo(str(path)))
    if demo is None:
        return part
    header = part.attempt("header", lambda: demo.header) or {}
    part.header = {key: str(value) for key, value in header.items() if value is not None}
    # awpy's own tick_rate falls back to 64 without saying so.
    if header.get("playback_time") and header.get("playback_ticks"):
        part.tick_rate = header["playback_ticks"] / header["playback_time"]
    known = part.attempt("events", lambda: set(demo.events)) or set()
    for name in EVENTS:
        if name in known:
            table = part.attempt(f"event {name}", partial(demo.events.__getitem__, name))
            if table is not None:
                part.events[name] = table.to_dicts()
    table = part.attempt(
        "per-tick states", lambda: demo.ticks(["name", "team_num", CONTROLLER, ANGLES, LIFE, BUTTONS])
    )
    if table is not None and len(table):
        part.attempt("per-tick states", lambda: _take_ticks(part, table))
    for row in part.events.get("player_connect", []):
        slot = slot_of(row.get("userid"))
        if slot and slot not in part.players:
            part.players[slot] = Player(row.get("name", ""), slot, slot - 1, account_of(row.get("xuid")))
    return part


def _take_ticks(part: Part, table: Any) -> None:
    import polars as pl

    table = table.with_columns(
        (pl.col(CONTROLLER) & ((1 << ENTITY_BITS) - 1)).alias("slot"),
        *(
            pl.col(ANGLES).str.extract(r"\(([^,]*), ([^,]*),", group).cast(pl.Float32).alias(name)
            for group, name in ((1, "pitch"), (2, "yaw"))
        ),
    ).filter(pl.col("slot").is_between(1, 64))
    if table[BUTTONS].null_count() == len(table):
        part.failures["buttons"] = "awpy: the demo has no button masks"
    for (slot,), rows in sorted(table.group_by("slot", maintain_order=True)):
        rows = rows.sort("tick")
        last = rows.row(-1, named=True)
        user = int(slot) - 1
        team = TEAMS.get(last["team_num"], "")
        part.players[user + 1] = Player(last["name"] or "", user + 1, user, account_of(last["steamid"]), team)
        masks = rows[BUTTONS]
        part.tracks[user + 1] = Track(
            slot=user + 1,
            tick=rows["tick"].to_numpy().astype(np.int64),
            alive=(rows[LIFE] == 0).fill_null(False).to_numpy(),
            yaw=rows["yaw"].fill_null(strategy="forward").fill_null(0.0).to_numpy(),
            pitch=rows["pitch"].fill_null(strategy="forward").fill_null(0.0).to_numpy(),
            pressed=None
            if masks.null_count() == len(masks)
            else pressed_of(masks.fill_null(0).to_numpy().astype(np.int64)),
        )
