"""Who plays while we record: an explorer, a task's expert with noise, or random keys.

A behaviour lives for one episode and draws from its own generator, so that an episode depends on nothing but
its seed. Keys are sticky, and each control switches by its own clock: no control is the shadow of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..controls import KEYS14, Vocabulary
from ..errors import UserError
from ..game import Frame, Game

RawAction = NDArray[np.float32]


class Behaviour(Protocol):
    """Chooses the raw action for a frame; `info` is the game's, with events and telemetry."""

    def act(self, frame: Frame, info: Mapping[str, Any]) -> RawAction: ...


HELD: dict[str, tuple[float, float]] = {
    "W": (36, 30),
    "A": (10, 45),
    "S": (10, 80),
    "D": (10, 45),
    "Shift": (20, 100),
    "Ctrl": (15, 110),
    "Fire": (12, 50),
    "Aim": (25, 110),
    "Reload": (3, 60),
    "Jump": (5, 50),
    "Turn_L": (8, 28),
    "Turn_R": (8, 28),
    "Look_U": (5, 40),
    "Look_D": (5, 40),
}
"""The explorer's mean raw steps with a key down and up."""
OPPOSITES = (("W", "S"), ("A", "D"), ("Turn_L", "Turn_R"), ("Look_U", "Look_D"))
"""Of two keys that cancel each other the explorer presses one; which one wins is drawn for each episode."""
STUCK_STEPS = 6
STUCK_SPEED = 0.1
"""Stuck: walking at less than this share of the fastest step so far, for STUCK_STEPS."""
STUCK_TURN = (8, 36)
"""Shortest and longest turn out of a dead end, in raw steps."""
LOOK_REACH = 10
"""The explorer looks at most this many raw steps up or down from level."""


class Explorer:
    """Sticky keys with long runs; turns when stuck; comes back to level after looking up or down."""

    def __init__(self, rng: np.random.Generator, effective: NDArray[np.bool_]) -> None:
        down, up = np.array([HELD[name] for name in KEYS14.names]).T
        self._rng = rng
        self._effective = effective
        self._release, self._press = 1 / down, 1 / up
        self._held = (rng.random(KEYS14.size) < down / (down + up)) & effective
        self._walking = [KEYS14.index(name) for name in "WASD"]
        pairs = [(KEYS14.index(one), KEYS14.index(other)) for one, other in OPPOSITES]
        self._opposites = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
        self._turns = [i for i in (KEYS14.index("Turn_L"), KEYS14.index("Turn_R")) if effective[i]]
        self._up, self._down = KEYS14.index("Look_U"), KEYS14.index("Look_D")
        self._place: NDArray[np.float64] | None = None
        self._fastest = 0.0
        self._slow = 0
        self._turn, self._turn_left = 0, 0
        self._level = 0
        self._walks = False

    def act(self, frame: Frame, info: Mapping[str, Any]) -> RawAction:
        switch = self._rng.random(KEYS14.size) < np.where(self._held, self._release, self._press)
        self._held = (self._held ^ switch) & self._effective
        keys = self._held.copy()
        self._leave_dead_end(keys, info["telemetry"])
        for winner, loser in self._opposites:
            keys[loser] &= not keys[winner]
        self._keep_level(keys)
        self._walks = bool(keys[self._walking].any())
        return keys.astype(np.float32)

    def _leave_dead_end(self, keys: NDArray[np.bool_], telemetry: Mapping[str, float]) -> None:
        place = np.array([telemetry.get(axis, 0.0) for axis in "xyz"])
        moved = 0.0 if self._place is None else float(np.linalg.norm(place - self._place))
        self._place = place
        self._fastest = max(self._fastest, moved)
        self._slow = self._slow + 1 if self._walks and moved <= STUCK_SPEED * self._fastest else 0
        if self._slow >= STUCK_STEPS and not self._turn_left and self._turns:
            self._turn_left = int(self._rng.integers(*STUCK_TURN))
            self._turn = int(self._rng.choice(self._turns))
        if self._turn_left:
            self._turn_left -= 1
            keys[self._turns] = False
            keys[self._turn] = True

    def _keep_level(self, keys: NDArray[np.bool_]) -> None:
        if self._level >= LOOK_REACH:
            keys[self._up] = False
        if self._level <= -LOOK_REACH:
            keys[self._down] = False
        self._level += int(keys[self._up]) - int(keys[self._down])


class RandomKeys:
    """A new draw of every control each 4 raw steps: pressed with 1 in 5, cameras by a few degrees."""

    HOLD = 4
    PRESSED = 0.2
    DEGREES = 5.0

    def __init__(
        self, rng: np.random.Generator, vocabulary: Vocabulary, effective: NDArray[np.bool_]
    ) -> None:
        self._rng = rng
        self._vocabulary = vocabulary
        self._effective = effective
        self._left = 0
        self._action = vocabulary.noop()

    def act(self, frame: Frame, info: Mapping[str, Any]) -> RawAction:
        if self._left == 0:
            self._left = self.HOLD
            pressed = self._rng.random(self._vocabulary.size) < self.PRESSED
            degrees = self._rng.normal(0, self.DEGREES, self._vocabulary.size)
            drawn = np.where(self._vocabulary.binary, pressed, degrees) * self._effective
            self._action = drawn.astype(np.float32)
        self._left -= 1
        return self._action


class Noisy:
    """Another behaviour, interrupted now and then by a few steps of random keys."""

    def __init__(
        self, behaviour: Behaviour, noise: Behaviour, rng: np.random.Generator, share: float = 0.15
    ) -> None:
        self._behaviour, self._noise, self._rng = behaviour, noise, rng
        self._steps = RandomKeys.HOLD
        self._rate = share / (self._steps * (1 - share))
        self._left = 0

    def act(self, frame: Frame, info: Mapping[str, Any]) -> RawAction:
        if self._left == 0 and self._rng.random() < self._rate:
            self._left = self._steps
        if self._left == 0:
            return self._behaviour.act(frame, info)
        self._left -= 1
        return self._noise.act(frame, info)


BEHAVIOURS = ("explorer", "random", "expert")
"""`expert` plays tasks and is made where the task is known."""


def make_behaviour(name: str, game: Game, rng: np.random.Generator) -> Behaviour:
    """The behaviour called `name` for one episode of `game`."""
    if name == "random":
        return RandomKeys(rng, game.vocabulary, game.effective)
    if name == "explorer":
        if game.vocabulary is not KEYS14:
            raise UserError(
                f"the explorer presses keys14, but {game.name} speaks {game.vocabulary.name}; use random"
            )
        return Explorer(rng, game.effective)
    raise UserError(f"unknown behaviour {name!r}; known: {', '.join(BEHAVIOURS)}")
