"""Who plays while we record: an explorer, a task's expert with noise, or random keys.

A behaviour lives for one episode and draws from its own generator, so that an episode depends on nothing but
its seed. Keys are sticky, and each control switches by its own clock: no control is the shadow of another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ..controls import KEYS14, Vocabulary
from ..errors import UserError
from ..game import Frame, Game, Info, Policy, RawAction
from .wanderer import Wanderer

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
SCHEDULE_BLOCK = 1024
LOOK_REACH = 10
"""The explorer looks at most this many raw steps up or down from level."""


class Explorer:
    """Sticky keys with long runs; turns when stuck; comes back to level after looking up or down."""

    def __init__(self, rng: np.random.Generator, effective: NDArray[np.bool_]) -> None:
        self._rng = rng
        self._effective = effective
        self._walking = [KEYS14.index(name) for name in "WASD"]
        pairs = [(KEYS14.index(one), KEYS14.index(other)) for one, other in OPPOSITES]
        self._opposites = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
        self._turns = [i for i in (KEYS14.index("Turn_L"), KEYS14.index("Turn_R")) if effective[i]]
        self._up, self._down = KEYS14.index("Look_U"), KEYS14.index("Look_D")
        self._schedule = self._keys()
        self._place = (0.0, 0.0, 0.0)
        self._fastest = 0.0
        self._slow = 0
        self._turn, self._turn_left = 0, 0
        self._level = 0
        self._walks = False

    def act(self, frame: Frame, info: Info) -> RawAction:
        keys = next(self._schedule)
        self._leave_dead_end(keys, info["telemetry"])
        for winner, loser in self._opposites:
            keys[loser] &= not keys[winner]
        self._keep_level(keys)
        self._walks = any(keys[index] for index in self._walking)
        return np.array(keys, np.float32)

    def _keys(self) -> Iterator[list[bool]]:
        """Which keys are down in each raw step: every control by its own clock, drawn in blocks."""
        while True:
            block = np.zeros((SCHEDULE_BLOCK, KEYS14.size), bool)
            for index, name in enumerate(KEYS14.names):
                if self._effective[index]:
                    block[:, index] = _held(self._rng, *HELD[name])
            yield from block.tolist()

    def _leave_dead_end(self, keys: list[bool], telemetry: Mapping[str, float]) -> None:
        place = (telemetry.get("x", 0.0), telemetry.get("y", 0.0), telemetry.get("z", 0.0))
        moved, self._place = math.dist(place, self._place), place
        self._fastest = max(self._fastest, moved) if self._walks else self._fastest
        self._slow = self._slow + 1 if self._walks and moved <= STUCK_SPEED * self._fastest else 0
        if self._slow >= STUCK_STEPS and not self._turn_left and self._turns:
            self._turn_left = int(self._rng.integers(*STUCK_TURN))
            self._turn = int(self._rng.choice(self._turns))
        if self._turn_left:
            self._turn_left -= 1
            for index in self._turns:
                keys[index] = index == self._turn

    def _keep_level(self, keys: list[bool]) -> None:
        if self._level >= LOOK_REACH:
            keys[self._up] = False
        if self._level <= -LOOK_REACH:
            keys[self._down] = False
        self._level += int(keys[self._up]) - int(keys[self._down])


def _held(rng: np.random.Generator, down: float, up: float) -> NDArray[np.bool_]:
    """(SCHEDULE_BLOCK,) whether a key is held that stays down and up for `down` and `up` steps on average."""
    begins_down = bool(rng.random() < down / (down + up))
    means = (down, up) if begins_down else (up, down)
    # Enough stretches even if all were of the shortest length 1.
    lengths = rng.geometric([1 / means[0], 1 / means[1]], (SCHEDULE_BLOCK // 2, 2)).ravel()
    held = np.tile([begins_down, not begins_down], SCHEDULE_BLOCK // 2)
    ends = int(np.searchsorted(np.cumsum(lengths), SCHEDULE_BLOCK)) + 1
    return np.repeat(held[:ends], lengths[:ends])[:SCHEDULE_BLOCK]


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

    def act(self, frame: Frame, info: Info) -> RawAction:
        if self._left == 0:
            self._left = self.HOLD
            pressed = self._rng.random(self._vocabulary.size) < self.PRESSED
            degrees = self._rng.normal(0, self.DEGREES, self._vocabulary.size)
            drawn = np.where(self._vocabulary.binary, pressed, degrees) * self._effective
            self._action = drawn.astype(np.float32)
        self._left -= 1
        return self._action


class Noisy:
    """A behaviour that now and then gives way to another one, for `steps` raw steps."""

    def __init__(
        self,
        behaviour: Policy,
        noise: Policy,
        steps: int,
        rng: np.random.Generator,
        share: float = 0.15,
    ) -> None:
        self._behaviour, self._noise, self._steps, self._rng = behaviour, noise, steps, rng
        self._rate = share / (self._steps * (1 - share))
        self._left = 0

    def act(self, frame: Frame, info: Info) -> RawAction:
        if self._left == 0 and self._rng.random() < self._rate:
            self._left = self._steps
        if self._left == 0:
            return self._behaviour.act(frame, info)
        self._left -= 1
        return self._noise.act(frame, info)


BEHAVIOURS = ("explorer", "random", "expert")
"""`expert` plays tasks and is made where the task is known."""


def make_behaviour(name: str, game: Game, rng: np.random.Generator) -> Policy:
    """The behaviour called `name` for one episode of `game`."""
    if name == "random":
        if hasattr(game, "spread"):
            return Wanderer(rng, game, hold=RandomKeys.HOLD, sticky=False)
        return RandomKeys(rng, game.vocabulary, game.effective)
    if name == "explorer":
        if hasattr(game, "spread"):  # another's game: see `own`
            return Wanderer(rng, game)
        if game.vocabulary is not KEYS14:
            raise UserError(
                f"the explorer presses keys14, but {game.name} speaks {game.vocabulary.name}; use random"
            )
        return Explorer(rng, game.effective)
    raise unknown_behaviour(name)


def unknown_behaviour(name: str) -> UserError:
    return UserError(f"unknown behaviour {name!r}; known: {', '.join(BEHAVIOURS)}")
