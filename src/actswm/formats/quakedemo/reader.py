"""A Quake III demo (`.dm_68`, `.dm_71`: OpenArena) as a `Replay` of the player who recorded it.

Such a demo tells the player's states and not what was pressed. Demos that this project records carry the pressed
controls as well, in the server's info string: `actswm_keys` is a mask over KEYS14 that holds from its tick on.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...controls import KEYS14
from ...errors import UserError
from ..replay import Event, Player, Replay, Round, Track
from .messages import Damaged, Message, messages

SERVER_INFO, PLAYERS = 0, 544
"""Numbers of config strings."""
KEYS_NAME = "actswm_keys"
HEALTH, SCORE = "stats.0", "persistant.0"
FIRING, NORMAL = 3, 0
"""Of `weaponstate` and `pm_type`."""
EMPTY_TICKS = 2


def read_quake_demo(path: Path, *, damaged: bool = False) -> Replay:
    if not path.is_file():
        raise UserError(f"{path}: no such demo file")
    data = path.read_bytes()
    if not data:
        raise UserError(f"{path}: the demo is empty; copy it again")
    told: list[Message] = []
    missing = []
    try:
        for message in messages(data):
            told.append(message)
    except Damaged as error:
        if not told or not told[0].config:
            raise UserError(f"{path}: is not a Quake III demo ({error})") from None
        if not damaged:
            raise UserError(
                f"{path}: is damaged ({error}); copy it again, or take what can be read with --damaged"
            ) from None
        missing.append(f"everything after message {len(told)}: {error}")
    if not told or not told[0].config:
        raise UserError(f"{path}: is not a Quake III demo: it does not begin with a game state")
    return _replay(path, told, missing)


def _replay(path: Path, told: list[Message], missing: list[str]) -> Replay:
    config = _Config(told[0].config)
    snapshots: list[Message] = []
    keys = []
    for message in told[1:]:
        config.take(message)
        if message.server_ms is None or message.state is None:
            continue
        if snapshots and message.server_ms <= (snapshots[-1].server_ms or 0):
            missing.append(f"everything after {snapshots[-1].server_ms} ms: the server started anew")
            break
        snapshots.append(message)
        keys.append(config.keys)
    if len(snapshots) <= EMPTY_TICKS:
        raise UserError(f"{path}: the demo has only {len(snapshots)} snapshots; there is nothing to replay")
    times = np.array([one.server_ms for one in snapshots], np.int64)
    step = int(np.median(np.diff(times)))
    tick = np.round((times - times[0]) / step).astype(np.int64)
    if (np.diff(tick) == 0).any():
        raise UserError(f"{path}: has several snapshots within {step} ms; its tick rate is unclear")
    tracks = _tracks(snapshots, tick, keys)
    if keys[-1] is None:
        missing.append("what was pressed: only demos that this project recorded say it")
    missing.append("kills among the other players: a demo knows its recorder's score only")
    names = {slot: config.name(slot) for slot in tracks}
    return Replay(
        path=path,
        game="openarena",
        map=config.info.get("mapname", ""),
        build=config.info.get("version", ""),
        tick_rate=1000 / step,
        first_tick=int(tick[0]),
        last_tick=int(tick[-1]),
        players=tuple(Player(name, slot, slot) for slot, name in names.items()),
        # An engine cannot show the last tick: the demo is over when it has read it.
        rounds=(Round(1, int(tick[0]), int(tick[-2]), int(tick[0])),),
        events=tuple(_events(snapshots, tick)),
        tracks=tracks,
        missing=tuple(missing),
        positions=_positions(snapshots, tick),
    )


class _Config:
    """The config strings, as they change."""

    def __init__(self, strings: Mapping[int, str]) -> None:
        self._strings = dict(strings)
        self._growing: dict[str, str] = {}
        self.info = _info(self._strings.get(SERVER_INFO, ""))

    def take(self, message: Message) -> None:
        """A long string comes in pieces: bcs0, bcs1, ..., bcs2."""
        if message.config:
            self._strings = dict(message.config)
        for command in message.commands:
            word, _, rest = command.strip().partition(" ")
            number, _, text = rest.partition(" ")
            if word not in ("cs", "bcs0", "bcs1", "bcs2") or not number.isdigit():
                continue
            text = text.removeprefix('"').removesuffix('"')
            self._growing[number] = text if word in ("cs", "bcs0") else self._growing.get(number, "") + text
            if word in ("cs", "bcs2"):
                self._strings[int(number)] = self._growing.pop(number)
        self.info = _info(self._strings.get(SERVER_INFO, ""))

    @property
    def keys(self) -> int | None:
        try:
            return int(self.info[KEYS_NAME], 16)
        except (KeyError, ValueError):
            return None

    def name(self, slot: int) -> str:
        return _info("\\" + self._strings.get(PLAYERS + slot, "")).get("n", f"player {slot}")


def _info(text: str) -> dict[str, str]:
    words = text.split("\\")[1:]
    return dict(zip(words[::2], words[1::2]))


def _tracks(snapshots: list[Message], tick: NDArray[np.int64], keys: list[int | None]) -> dict[int, Track]:
    """By slot: a spectator's demo follows one player after the other."""
    states = [one.state or {} for one in snapshots]
    slots = np.array([state.get("clientNum", 0) for state in states], np.int64)
    # What is told with a tick is pressed from then on, and shows in the next one's state.
    held = np.array([0, *((mask or 0) for mask in keys[:-1])], np.int64)
    pressed = ((held[:, None] >> np.arange(KEYS14.size)) & 1).astype(bool)
    alive = np.array(
        [state.get(HEALTH, 0) > 0 and state.get("pm_type", NORMAL) == NORMAL for state in states], bool
    )
    yaw, pitch = (
        np.array([state.get(name, 0.0) for state in states], np.float32) for name in ("yaw", "pitch")
    )
    known = any(mask is not None for mask in keys)
    return {
        int(slot): Track(
            int(slot), tick[rows], alive[rows], yaw[rows], pitch[rows],
            pressed[rows] if known else None, camera_keys=known,
        )
        for slot in np.unique(slots)
        for rows in [slots == slot]
    }  # fmt: skip


def _events(snapshots: list[Message], tick: NDArray[np.int64]) -> list[Event]:
    found = []
    for before, after, at in zip(snapshots, snapshots[1:], tick[1:].tolist()):
        old, new = before.state or {}, after.state or {}
        slot = int(new.get("clientNum", 0))
        if old.get("clientNum", 0) != slot:
            continue
        if old.get(HEALTH, 0) > 0 >= new.get(HEALTH, 0):
            found.append(Event(at, "death", slot))
        for _ in range(int(new.get(SCORE, 0) - old.get(SCORE, 0))):
            found.append(Event(at, "kill", slot))
        shooting = new.get("weaponstate", 0) == FIRING
        if shooting and new.get("weaponTime", 0) > old.get("weaponTime", 0):
            found.append(Event(at, "shot", slot))
    return found


def _positions(snapshots: list[Message], tick: NDArray[np.int64]) -> NDArray[np.int64]:
    """An engine reads one snapshot further than it shows: it shows what lies between the last two."""
    ends = [one.ends_at for one in snapshots]
    return np.column_stack([ends[1:], tick[:-1]]).astype(np.int64)
