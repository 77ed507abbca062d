"""One reader of CS2 demos on top of two parsers, each of which reads what the other cannot.

awpy knows every player, bots too; demoparser2 knows the patch and the game's clock, and restores the buttons of
demos whose masks are empty. A part that neither can read goes into `Replay.missing`, and the rest is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PureWindowsPath
from typing import Any

from ...errors import UserError
from ..replay import Event, Player, Replay, Round, Track
from . import by_awpy, by_demoparser
from .container import Outline, outline, plain_demo
from .part import Part, slot_of
from .rounds import rounds_of

PARSERS = {"awpy": by_awpy.read, "demoparser2": by_demoparser.read}
GAME_FOLDER = "csgo"
"""Counter-Strike 2 kept the folder of its predecessor."""


def read_cs2_demo(path: Path, *, parsers: Sequence[str] = tuple(PARSERS), damaged: bool = False) -> Replay:
    """Parse `.dem` or `.dem.zst`. A file that breaks off is refused unless `damaged` says to take what there is."""
    with plain_demo(path) as plain:
        frames = outline(plain)
        if not frames.whole and not damaged:
            raise UserError(
                f"{path}: breaks off or is damaged at byte {frames.ends_at:,} (tick {frames.last_tick}); "
                "copy it again, or take what can be read with --damaged"
            )
        parts = [PARSERS[name](plain) for name in parsers]
    header = {key: value for part in reversed(parts) for key, value in part.header.items()}
    if not header:
        reasons = "; ".join(reason for part in parts for reason in part.failures.values())
        raise UserError(f"{path}: the demo's header cannot be read ({reasons}); it is damaged")
    folder = PureWindowsPath(header.get("game_directory", "").replace("/", "\\")).name
    if folder != GAME_FOLDER:
        raise UserError(
            f"{path}: is not a Counter-Strike 2 demo: its game folder is {folder or 'unknown'!r} and its map "
            f"{header.get('map_name', 'unknown')!r}"
        )
    return _join(path, parts, header, frames)


def _join(path: Path, parts: Sequence[Part], header: dict[str, str], frames: Outline) -> Replay:
    missing = [] if frames.whole else [f"everything after tick {frames.last_tick}: the file breaks off there"]
    events: dict[str, list[dict[str, Any]]] = {}
    players: dict[int, Player] = {}
    for part in reversed(parts):
        events |= part.events
        players |= part.players
    told = sorted(_events(events), key=lambda event: event.tick)
    for slot in {event.slot for event in told} - set(players):
        players[slot] = Player(f"user {slot - 1}", slot, slot - 1)
    tracks = _join_tracks(parts)
    ticks = [track.tick for track in tracks.values() if len(track)]
    first = min((int(tick[0]) for tick in ticks), default=0)
    last = max([frames.last_tick, *(int(tick[-1]) for tick in ticks)])
    rounds = rounds_of(events, first, last)
    if not rounds and last > first:
        rounds = (Round(1, first, last),)
        missing.append("rounds: no round event can be read; the whole demo is taken as round 1")
    elif any(one.live is None for one in rounds):
        missing.append("the end of the freeze time of some rounds: the demo has no event for it")
    missing += _failures(parts, events, bool(tracks), players)
    rates = [part.tick_rate for part in reversed(parts) if part.tick_rate]
    if not rates:
        missing.append("tick rate: neither the game's clock nor the playback time can be read")
    return Replay(
        path=path,
        game="cs2",
        map=header.get("map_name", ""),
        build=header.get("patch_version") or header.get("build_num", ""),
        tick_rate=round(rates[0], 3) if rates else None,
        first_tick=first,
        last_tick=last,
        players=tuple(players[slot] for slot in sorted(players)),
        rounds=rounds,
        events=tuple(told),
        tracks=tracks,
        missing=tuple(missing),
    )


def _join_tracks(parts: Sequence[Part]) -> dict[int, Track]:
    """The first parser's track of each player, unless only the other one's shows that anything was pressed."""
    tracks: dict[int, Track] = {}
    for part in parts:
        for slot, track in part.tracks.items():
            known = tracks.get(slot)
            if known is None or (_presses(track) and not _presses(known) and len(track) >= len(known)):
                tracks[slot] = track
    return dict(sorted(tracks.items()))


def _presses(track: Track) -> bool:
    return track.pressed is not None and bool(track.pressed.any())


def _failures(
    parts: Sequence[Part], events: dict[str, list[dict[str, Any]]], tracks: bool, players: dict[int, Player]
) -> list[str]:
    """What no parser could read, in words."""
    failed: dict[str, list[str]] = {}
    for part in parts:
        for what, reason in part.failures.items():
            failed.setdefault(what, []).append(reason)
    got = {"per-tick states": tracks, "buttons": tracks, **{f"event {name}": True for name in events}}
    missing = [
        f"{what}: {'; '.join(reasons)}"
        for what, reasons in failed.items()
        if not got.get(what)
        and (len(reasons) == len(parts) or what.startswith("event ") or what == "buttons")
    ]
    if not tracks:
        missing.append("alive, view angles and buttons per tick, and with them every window")
    if not players:
        missing.append("players")
    return missing


def _events(events: dict[str, list[dict[str, Any]]]) -> list[Event]:
    found = []
    for row in events.get("player_death", []):
        victim, killer = slot_of(row.get("userid")), slot_of(row.get("attacker"))
        weapon = str(row.get("weapon", ""))
        if victim:
            found.append(Event(int(row["tick"]), "death", victim, killer or None, weapon))
        if killer and killer != victim:
            found.append(Event(int(row["tick"]), "kill", killer, victim or None, weapon))
    for name, event in (("weapon_fire", "shot"), ("player_spawn", "spawn")):
        for row in events.get(name, []):
            slot = slot_of(row.get("userid"))
            if slot:
                found.append(Event(int(row["tick"]), event, slot, text=str(row.get("weapon", ""))))
    return found
