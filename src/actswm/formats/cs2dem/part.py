"""What one parser could get from a CS2 demo, and the words of the game that both share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...controls import KEYS14
from ..replay import Player, Track

STEAM_ID_BASE = 76561197960265728
"""Of individual accounts: the account id is what a 64-bit Steam id has above it."""
NOBODY = 65535
TEAMS = {2: "T", 3: "CT"}
BUTTON_BITS = {
    "Fire": 0, "Jump": 1, "Ctrl": 2, "W": 3, "S": 4, "A": 9, "D": 10, "Aim": 11, "Reload": 13, "Shift": 16,
}  # fmt: skip
"""Bits of the game's button mask by the control that they mean: attack, jump, duck, forward, ... , walk."""
EVENTS = (
    "player_death", "player_spawn", "player_connect", "weapon_fire",
    "round_start", "round_freeze_end", "round_end", "round_officially_ended",
)  # fmt: skip
T = TypeVar("T")


@dataclass
class Part:
    """Filled by one parser; what failed is in `failures`, by what it was."""

    parser: str
    header: dict[str, str] = field(default_factory=dict)
    tick_rate: float | None = None
    events: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Rows by event name; ids are user ids."""
    players: dict[int, Player] = field(default_factory=dict)
    """By slot."""
    tracks: dict[int, Track] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def attempt(self, what: str, read: Callable[[], T]) -> T | None:
        """`read()`, or None and a note. Both parsers are native code: a panic is a BaseException."""
        try:
            return read()
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:
            self.failures[what] = (
                f"{self.parser}: {' '.join(str(error).split())[:160] or type(error).__name__}"
            )
            return None


def slot_of(user_id: Any) -> int:
    """The spectate command's number of a user id; 0 for nobody."""
    number = _integer(user_id)
    return 0 if number is None or number >= NOBODY or number < 0 else (number & 0xFF) + 1


def account_of(steam_id: Any) -> int:
    number = _integer(steam_id)
    return number - STEAM_ID_BASE if number is not None and number > STEAM_ID_BASE else 0


def pressed_of(mask: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n, 14) controls of (n,) button masks; the camera's stay empty."""
    pressed = np.zeros((len(mask), KEYS14.size), bool)
    for control, bit in BUTTON_BITS.items():
        pressed[:, KEYS14.index(control)] = (mask >> bit) & 1
    return pressed


def pressed_by_name(columns: Mapping[str, NDArray[np.bool_]], rows: int) -> NDArray[np.bool_]:
    """(n, 14) controls from a column for each control that is known."""
    pressed = np.zeros((rows, KEYS14.size), bool)
    for control, values in columns.items():
        pressed[:, KEYS14.index(control)] = values
    return pressed


def _integer(value: Any) -> int | None:
    try:
        return None if value is None or (isinstance(value, float) and math.isnan(value)) else int(value)
    except (TypeError, ValueError):
        return None
