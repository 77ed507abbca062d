"""OpenArena as a `Game`: 25 raw steps a second over KEYS14."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ...controls import KEYS14
from ...errors import UserError
from ...game import Frame, Step
from ..guard import EngineDied
from ..seeds import EpisodeSeeds
from ..spaces import action_space, frame_space, played_actions
from . import worlds
from .client import BINDS, MAX_BOTS, Client


class Keys:
    """The keys that are down."""

    CODES = [ord(BINDS[name][0]) for name in KEYS14.names]

    def __init__(self) -> None:
        self._down = np.zeros(KEYS14.size, bool)

    def act(self, action: NDArray[np.floating]) -> list[tuple[int, bool]]:
        """Keys that change for this raw action."""
        down = action > 0.5
        changed = np.flatnonzero(down != self._down)
        self._down = down
        return [(self.CODES[index], bool(down[index])) for index in changed]

    def release(self) -> list[tuple[int, bool]]:
        """Let go of every key."""
        return self.act(KEYS14.noop())


class OpenArenaGame(gymnasium.Env[Any, Any]):
    """A map of OpenArena, alone or with `bots`. Every reset starts the match anew with all weapons in hand; Reload
    takes the next one.

    Where the player appears is the engine's choice, not the seed's: the game is not deterministic. Events: `death`
    and `kill`, with the engine's own words as `text`. Telemetry: x, y, z (of the eyes) and yaw, one step late.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 25}
    render_mode: str | None = "rgb_array"
    vocabulary = KEYS14
    fps = 25.0
    deterministic = False

    def __init__(
        self, world: str, *, seed: int | None = None, size: tuple[int, int] = (128, 128), bots: int = 0
    ) -> None:
        if world not in worlds():
            raise UserError(f"unknown OpenArena map {world!r}; known: {', '.join(worlds())}")
        if not 0 <= bots <= MAX_BOTS:
            raise UserError(f"bots must be 0 to {MAX_BOTS}, not {bots}")
        self.name = f"openarena/{world}"
        self.effective = np.ones(self.vocabulary.size, bool)
        self.size = size
        self.observation_space = frame_space(size)
        self.action_space = action_space(self.vocabulary)
        self._world, self._bots = world, bots
        self._seeds = EpisodeSeeds(seed)
        self._client: Client | None = None
        self._keys = Keys()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]:
        if options:
            raise UserError(f"{self.name} has no reset options, but got: {', '.join(options)}")
        seed = self._seeds.choose(seed, self.np_random)
        super().reset(seed=seed)
        if self._client is not None and not self._client.engine.alive:
            self.close()
        if self._client is None:
            self._client = Client(self.name, self._world, self.size, self._bots)
            self._keys = Keys()
        try:
            self._client.step(self._keys.release())
            self._client.begin()
        except EngineDied:
            self.close()
            raise
        return self._client.frame(), {"events": [], "telemetry": dict(self._client.telemetry), "seed": seed}

    def step(self, action: NDArray[np.floating]) -> Step:
        if self._client is None:
            raise UserError(f"{self.name} is not running; call reset() first")
        try:
            events = self._client.step(self._keys.act(played_actions(self.vocabulary, action)))
        except EngineDied:
            self.close()
            raise
        died = any(event["name"] == "death" for event in events)
        info = {"events": events, "telemetry": dict(self._client.telemetry)}
        return self._client.frame(), 0.0, died, False, info

    def render(self) -> Frame:
        return self._client.frame() if self._client else np.zeros((*self.size, 3), np.uint8)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
