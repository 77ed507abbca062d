"""Which stretches of a replay are rendered: player x round, alive only (Algorithm 3, line 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...errors import UserError
from ...formats.replay import Player, Replay, Round, Track, Window


@dataclass(frozen=True)
class WindowRules:
    players: tuple[str, ...] = ()
    """Names, account ids or slots; all if empty."""
    rounds: tuple[int, ...] = ()
    freeze_time: bool = False
    """Keep the time at a round's start in which nobody can move?"""
    min_seconds: float = 1.0


def windows_of(replay: Replay, rules: WindowRules) -> tuple[Window, ...]:
    """In the order of rounds, then slots, then ticks."""
    rate = tick_rate_of(replay)
    chosen = _chosen_players(replay, rules.players)
    unknown = set(rules.rounds) - {one.number for one in replay.rounds}
    if unknown:
        raise UserError(f"{replay.path}: has no round {min(unknown)}; it has {len(replay.rounds)} (--rounds)")
    found = []
    for one in replay.rounds:
        if rules.rounds and one.number not in rules.rounds:
            continue
        for player in chosen:
            track = replay.tracks.get(player.slot)
            if track is not None:
                found += _alive_windows(player, one, track, rules.freeze_time)
    return tuple(window for window in found if window.ticks >= rules.min_seconds * rate)


def hours(replay: Replay, windows: Sequence[Window]) -> float:
    return sum(window.ticks for window in windows) / tick_rate_of(replay) / 3600


def tick_rate_of(replay: Replay) -> float:
    if replay.tick_rate is None:
        raise UserError(
            f"{replay.path}: the tick rate cannot be read, and with it no window; "
            f"missing: {'; '.join(replay.missing)}"
        )
    return replay.tick_rate


def manifest(replay: Replay, windows: Sequence[Window], rules: WindowRules) -> dict[str, Any]:
    """What will be rendered, as JSON."""
    return {
        "replay": replay.path.name,
        "game": replay.game,
        "map": replay.map,
        "build": replay.build,
        "tick_rate": tick_rate_of(replay),
        "rules": asdict(rules),
        "hours": round(hours(replay, windows), 6),
        "missing": list(replay.missing),
        "windows": [
            {
                "name": window.name,
                "account_id": replay.player(window.slot).account_id,
                "seconds": round(window.ticks / tick_rate_of(replay), 3),
                **asdict(window),
            }
            for window in windows
        ],
    }


def _alive_windows(player: Player, one: Round, track: Track, freeze_time: bool) -> list[Window]:
    start = one.start if freeze_time or one.live is None else max(one.start, one.live)
    rows = track.rows(start, one.end)
    tick, alive = track.tick[rows], track.alive[rows]
    # A gap in the ticks ends a window too: nothing is known of the player in it.
    edge = np.diff(alive.astype(np.int8)) != 0
    gap = np.diff(tick) > _longest_step(track)
    cuts = np.flatnonzero(edge | gap) + 1
    return [
        Window(player.slot, player.name, one.number, int(piece[0]), int(piece[-1]), part)
        for part, piece in enumerate(
            tick[piece]
            for piece in np.split(np.arange(len(tick)), cuts)
            if len(piece) > 1 and alive[piece[0]]
        )
    ]


def _longest_step(track: Track) -> int:
    """Twice the usual step between two ticks of the track: some demos keep every second tick."""
    return 2 * int(np.median(np.diff(track.tick))) if len(track) > 1 else 1


def _chosen_players(replay: Replay, wanted: Sequence[str]) -> list[Player]:
    if not wanted:
        return list(replay.players)
    chosen = []
    for word in wanted:
        match = [
            player
            for player in replay.players
            if word in (player.name, str(player.slot))
            or (player.account_id and word == str(player.account_id))
        ]
        if not match:
            names = ", ".join(f"{player.name} ({player.slot})" for player in replay.players)
            raise UserError(f"{replay.path}: has no player {word!r} (--players); it has: {names}")
        chosen += [player for player in match if player not in chosen]
    return sorted(chosen, key=lambda player: player.slot)
