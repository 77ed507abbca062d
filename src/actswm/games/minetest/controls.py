"""From raw actions over a vocabulary to Minetest's keys and mouse pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...controls import KEYS14, MINECRAFT, Vocabulary
from .settings import DEGREES_PER_PIXEL, KEYS, PITCH_LIMIT

TURN_DEGREES = 4.0
"""Turn_L and Turn_R, a raw step."""
LOOK_DEGREES = 3.0

_BUTTONS = {
    KEYS14.name: {
        "W": "forward", "A": "left", "S": "backward", "D": "right", "Shift": "sneak", "Ctrl": "aux1", "Fire": "dig",
        "Aim": "place", "Reload": "hotbar_next", "Jump": "jump",
    },
    MINECRAFT.name: {
        "attack": "dig", "back": "backward", "forward": "forward", "jump": "jump", "left": "left", "right": "right",
        "sneak": "sneak", "sprint": "aux1", "use": "place", "inventory": "inventory", "drop": "drop",
        **{f"hotbar.{slot}": f"slot{slot}" for slot in range(1, 10)},
    },
}  # fmt: skip

_TURNS = {
    KEYS14.name: {
        "Turn_L": (-TURN_DEGREES, 0.0), "Turn_R": (TURN_DEGREES, 0.0),
        "Look_U": (0.0, -LOOK_DEGREES), "Look_D": (0.0, LOOK_DEGREES),
    },
    MINECRAFT.name: {"yaw": (1.0, 0.0), "pitch": (0.0, 1.0)},
}  # fmt: skip
"""Degrees (right, down) for a control at 1."""


def slot_key(slot: int) -> int:
    return ord(KEYS[f"slot{slot}"])


@dataclass
class Hands:
    """Keys that are down now, and where the camera should look, of which pixels are only an approximation."""

    vocabulary: Vocabulary
    yaw: float = 0.0
    pitch: float = 0.0

    def __post_init__(self) -> None:
        buttons, turns = _BUTTONS[self.vocabulary.name], _TURNS[self.vocabulary.name]
        self._keys = [(self.vocabulary.index(name), ord(KEYS[action])) for name, action in buttons.items()]
        self._turns = np.array([turns.get(name, (0.0, 0.0)) for name in self.vocabulary.names])
        self._down: set[int] = set()
        self._sent = (0, 0)
        self._origin = (self.yaw, self.pitch)

    def look_at(self, yaw: float, pitch: float) -> None:
        """The camera was put here by the world."""
        self.yaw, self.pitch = yaw, pitch
        self._origin, self._sent = (yaw, pitch), (0, 0)

    def act(self, action: NDArray[np.floating]) -> tuple[list[tuple[int, bool]], tuple[int, int]]:
        """Keys that change and mouse motion for this raw action. Fractions of a pixel are carried over."""
        down = {key for index, key in self._keys if action[index] > 0.5}
        changes = [(key, False) for key in self._down - down] + [(key, True) for key in down - self._down]
        self._down = down
        right, below = np.where(self.vocabulary.binary, action > 0.5, action) @ self._turns
        self.yaw += float(right)
        self.pitch = min(max(self.pitch + float(below), -PITCH_LIMIT), PITCH_LIMIT)
        wanted = (
            round((self.yaw - self._origin[0]) / DEGREES_PER_PIXEL),
            round((self.pitch - self._origin[1]) / DEGREES_PER_PIXEL),
        )
        motion = (wanted[0] - self._sent[0], wanted[1] - self._sent[1])
        self._sent = wanted
        return sorted(changes), motion

    def release(self) -> list[tuple[int, bool]]:
        """Let go of every key."""
        changes = [(key, False) for key in sorted(self._down)]
        self._down = set()
        return changes
