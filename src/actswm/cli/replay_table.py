"""What a replay holds, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .printing import text_console

if TYPE_CHECKING:
    from ..formats.replay import Replay


def show_replay(replay: Replay) -> None:
    from rich.table import Table

    console = text_console()
    rate = f"{replay.tick_rate:g} ticks a second" if replay.tick_rate else "tick rate unknown"
    console.print(
        f"{replay.path}: {replay.game} {replay.map}, build {replay.build or 'unknown'}, {rate}, "
        f"ticks {replay.first_tick} to {replay.last_tick}, {len(replay.rounds)} rounds, "
        f"{replay.count('kill')} kills, {replay.count('shot')} shots"
    )
    table = Table(
        "slot", "player", "account", "team", "ticks", "alive", "kills", "deaths", "ticks with input"
    )
    for player in replay.players:
        track = replay.tracks.get(player.slot)
        mine = [event.name for event in replay.events if event.slot == player.slot]
        pressed = None if track is None else track.pressed
        table.add_row(
            str(player.slot),
            player.name,
            str(player.account_id) if player.account_id else "bot or unknown",
            player.team,
            "unknown" if track is None else f"{len(track):,}",
            "unknown" if track is None else f"{track.alive.mean():.0%}",
            str(mine.count("kill")),
            str(mine.count("death")),
            "unknown" if pressed is None else f"{pressed.any(1).mean():.0%}",
        )
    console.print(table)
    if replay.rounds:
        rounds = Table("round", "from tick", "live from", "to tick")
        for one in replay.rounds:
            live = "unknown" if one.live is None else str(one.live)
            rounds.add_row(str(one.number), str(one.start), live, str(one.end))
        console.print(rounds)
    for line in replay.missing:
        console.print(f"missing: {line}")

