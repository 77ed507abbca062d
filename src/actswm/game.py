"""The `Game` protocol: what recording, planning and diagnosis need of a game.

It is Gymnasium's `reset`/`step`, with an RGB frame as observation and a vector over the game's vocabulary
as action, one raw step at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .controls import Vocabulary

Frame = NDArray[np.uint8]
"""RGB, (height, width, 3)."""
RawAction = NDArray[np.float32]
"""A vector over the game's vocabulary, for one raw step."""
Start = Mapping[str, Any]
"""One initial condition: the arguments of a game's `reset`, that is `seed` and/or `options`."""
Info = Mapping[str, Any]
"""What a game tells at a step: `events` and `telemetry`."""
Step = tuple[Frame, float, bool, bool, dict[str, Any]]
"""What a game's `step` returns: frame, reward, terminated, truncated, info."""
POSE = ("x", "y", "z", "yaw", "pitch")
"""The telemetry that is stored with each frame, as far as the game tells it (else NaN)."""


def pose_of(telemetry: Mapping[str, float]) -> list[float]:
    return [telemetry.get(name, np.nan) for name in POSE]


@runtime_checkable
class Game(Protocol):
    """A real engine in lockstep.

    `info` always has `events` (a list of `{"name": ..., ...}` that happened in this step) and `telemetry`
    (a flat dict of floats: position, angles, health, whatever the engine tells).
    """

    name: str
    vocabulary: Vocabulary
    effective: NDArray[np.bool_]
    """Per control: does it do anything in this game and world?"""
    fps: float
    """Raw steps per second of game time."""
    deterministic: bool
    """Do the same seed and actions give bit-identical frames? Then the game can branch."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]: ...

    def step(self, action: NDArray[np.floating]) -> Step: ...

    def close(self) -> None: ...


class Policy(Protocol):
    """Whoever plays an episode: it chooses the raw action for a frame, and may look at what the game tells."""

    def act(self, frame: Frame, info: Info) -> RawAction: ...
