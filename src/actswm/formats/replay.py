"""What a replay file says, whichever game made it: players, rounds, events, and each player's state tick by tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Player:
    """`slot` is what the engine's spectate command takes."""

    name: str
    slot: int
    user_id: int
    account_id: int = 0
    """0 for bots."""
    team: str = ""


@dataclass(frozen=True)
class Round:
    """Ticks `start` to `end`, both inside; players can move from `live` on (None: the file does not say)."""

    number: int
    start: int
    end: int
    live: int | None = None


@dataclass(frozen=True)
class Event:
    """`slot` did it or suffered it: `kill`, `death`, `shot`; `other` is the other party, where there is one."""

    tick: int
    name: str
    slot: int
    other: int | None = None
    text: str = ""


@dataclass(frozen=True)
class Track:
    """One player's ticks, in order. Row i is the state at `tick[i]` and the input that led to it."""

    slot: int
    tick: NDArray[np.int64]
    alive: NDArray[np.bool_]
    yaw: NDArray[np.float32]
    """Degrees, growing to the left."""
    pitch: NDArray[np.float32]
    """Degrees, growing downwards."""
    pressed: NDArray[np.bool_] | None = None
    """(n, 14) over KEYS14; None where the file does not say what was pressed."""
    camera_keys: bool = False
    """Does `pressed` tell the camera controls too? Else they follow from the view angles."""

    def __len__(self) -> int:
        return len(self.tick)

    def rows(self, start: int, end: int) -> slice:
        """The rows of the ticks `start` to `end`, both inside."""
        first, last = np.searchsorted(self.tick, [start, end + 1])
        return slice(int(first), int(last))


@dataclass(frozen=True)
class Replay:
    """A parsed replay file. What could not be read is in `missing`, one plain sentence each."""

    path: Path
    game: str
    map: str
    build: str
    tick_rate: float | None
    first_tick: int
    last_tick: int
    players: tuple[Player, ...] = ()
    rounds: tuple[Round, ...] = ()
    events: tuple[Event, ...] = ()
    tracks: Mapping[int, Track] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    positions: NDArray[np.int64] | None = None
    """(n, 2) bytes of the file that an engine has read when it shows a tick, and the tick; for the marker."""

    @property
    def tells_input(self) -> bool:
        """Does the file say what was pressed?"""
        return any(track.pressed is not None for track in self.tracks.values())

    def player(self, slot: int) -> Player:
        return next(player for player in self.players if player.slot == slot)

    def count(self, event: str) -> int:
        return sum(one.name == event for one in self.events)


@dataclass(frozen=True)
class Window:
    """A stretch of ticks `start` to `end`, both inside, in which a player is alive."""

    slot: int
    player: str
    round: int
    start: int
    end: int
    part: int = 0
    """Counts the windows of one player in one round: some games let the dead come back."""

    @property
    def name(self) -> str:
        """A folder name: ASCII, and different for each window of a replay."""
        plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in self.player)
        return f"round-{self.round:02}-slot-{self.slot:02}-part-{self.part:02}-{plain[:24] or 'player'}"

    @property
    def number(self) -> int:
        """Different for each window of a replay."""
        return self.round * 10_000 + self.slot * 100 + self.part

    @property
    def ticks(self) -> int:
        return self.end - self.start + 1


@dataclass(frozen=True)
class Capture:
    """What came off the screen while a window was replayed, in order."""

    frames: Sequence[NDArray[np.uint8]]
    """RGB, each with the marker's rows, if there are any."""
    time_s: NDArray[np.float64]
    """When each was taken, on any clock."""
    tick: NDArray[np.int64] | None = None
    """Deterministic captures: the tick that each frame shows, counted."""
    strip_rows: int = 0
    """Rows at the top and at the bottom that are not the game's."""
    marked: bool = False
    """Do those rows carry the marker?"""
    fov_degrees: float = 90.0
    """Across the picture's width."""
    action: NDArray[np.float32] | None = None
    """Where the engine itself says what was pressed in each frame."""
    columns: Mapping[str, NDArray[np.generic]] | None = None
    """What the dataset file gets beside frames and actions, where the engine decides that."""


CODE_BITS, CHECK_BITS = 28, 8
CELLS = CODE_BITS + CHECK_BITS + 2
STRIP_ROWS = 8
"""The marker: a white and a black cell, the number, and its check, lowest bit first, in the first and the last rows."""


def marker_check(number: int) -> int:
    """What the marker's last cells say about its number."""
    total = 0xA5
    for shift in range(0, 32, 8):
        total = (total * 31 + (number >> shift & 0xFF)) & 0xFF
    return total
