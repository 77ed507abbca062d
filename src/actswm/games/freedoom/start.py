"""Where an episode starts: a seeded walk from the map's spawn, not part of the episode.

Scenario and game maps start at one fixed place and heading; a few unrendered raw steps, drawn from the seed, vary
both and keep seed + actions bit-identical.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...controls import KEYS14
from .worlds import Start

HALF_TURN = 28
"""Raw steps for 180 degrees."""
LEGS = ((HALF_TURN // 2, 24), (HALF_TURN, 12))
"""Of each leg of a walk: the longest turn and the longest run. The first one leads away from the spawn, whose
back is often to a wall; the second one hides where the player came from."""
SPOT = 4
"""The walk, as a seed, to the spot from which the world `turn` looks around: open, and different on each side."""
REST = 20
"""Raw steps until a runner stands still, so that no episode begins in the middle of a movement."""


def start_actions(start: Start, seed: int) -> NDArray[np.float32]:
    """(n, A) raw actions between the map's spawn and the start of the episode with `seed`."""
    actions: list[NDArray[np.float32]] = []
    if start != "spawn":
        rng = np.random.default_rng(seed)
        actions += _walk(np.random.default_rng(SPOT) if start == "turn" else rng)
        actions += _turn(rng, HALF_TURN)
        actions += [KEYS14.noop()] * REST
    return np.array(actions, np.float32).reshape(-1, KEYS14.size)


def _walk(rng: np.random.Generator) -> list[NDArray[np.float32]]:
    actions = []
    for longest_turn, longest_run in LEGS:
        actions += _turn(rng, longest_turn)
        actions += [KEYS14.action(["W"])] * int(rng.integers(longest_run + 1))
    return actions


def _turn(rng: np.random.Generator, longest: int) -> list[NDArray[np.float32]]:
    side = "Turn_L" if rng.random() < 0.5 else "Turn_R"
    return [KEYS14.action([side])] * int(rng.integers(longest + 1))
