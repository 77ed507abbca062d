"""Minetest as a `Game`: 20 raw steps a second, over KEYS14 or Minecraft's vocabulary."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ...controls import KEYS14, MINECRAFT, vocabulary_of
from ...errors import UserError
from ...game import Frame, Step
from ..guard import EngineDied
from ..seeds import EpisodeSeeds
from ..spaces import action_space, frame_space, played_actions
from .client import Client
from .controls import Hands, slot_key
from .world import WORLD_SEED, WORLDS, Start, episode_start

START_FIELDS = {field.name for field in fields(Start)}


class MinetestGame(gymnasium.Env[Any, Any]):
    """A world of Minetest.

    `vocabulary` is `keys14` or `minecraft`; `world_seed` the map's seed; the engine starts anew by itself when
    it has grown beyond `memory_mb`. `reset(options=...)` takes the fields of `world.Start` (position, yaw,
    pitch, inventory, slot, boxes, ...) and puts them over the start that the seed gives.

    Events: `dig` and `place` with `node` and `position` (and what it was placed `against`), `death`. The same
    start and actions give the same events and poses; distant scenery may be drawn a step earlier or later, so
    frames are not always bit-identical.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}
    render_mode: str | None = "rgb_array"
    fps = 20.0
    deterministic = False

    def __init__(
        self,
        world: str,
        *,
        seed: int | None = None,
        size: tuple[int, int] = (128, 128),
        vocabulary: str = KEYS14.name,
        world_seed: int = WORLD_SEED,
        memory_mb: int = 1500,
    ) -> None:
        if world not in WORLDS:
            raise UserError(f"unknown Minetest world {world!r}; known: {', '.join(WORLDS)}")
        if vocabulary not in (KEYS14.name, MINECRAFT.name):
            raise UserError(f"Minetest speaks keys14 and minecraft, not {vocabulary!r}")
        self.name = f"minetest/{world}"
        self.vocabulary = vocabulary_of(vocabulary)
        self.effective = np.ones(self.vocabulary.size, bool)
        self.world = WORLDS[world](world_seed)
        self.size = size
        self.observation_space = frame_space(size)
        self.action_space = action_space(self.vocabulary)
        self._memory_bytes = memory_mb << 20
        self._seeds = EpisodeSeeds(seed)
        self._client: Client | None = None
        self._hands = Hands(self.vocabulary)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]:
        seed = self._seeds.choose(seed, self.np_random)
        super().reset(seed=seed)
        start = self._start(seed, options or {})
        client = self._ready_client()
        try:
            client.step(self._hands.release(), (0, 0))
            client.begin(start.command())
            slot = slot_key(start.slot)
            client.step([(slot, True)], (0, 0))
            client.step([(slot, False)], (0, 0))
        except EngineDied:
            self.close()
            raise
        self._hands.look_at(start.yaw, start.pitch)
        return client.frame(), {"events": [], "telemetry": client.telemetry(), "seed": seed}

    def step(self, action: NDArray[np.floating]) -> Step:
        if self._client is None:
            raise UserError(f"{self.name} is not running; call reset() first")
        try:
            events = self._client.step(*self._hands.act(played_actions(self.vocabulary, action)))
        except EngineDied:
            self.close()
            raise
        died = any(event["name"] == "death" for event in events)
        return (
            self._client.frame(),
            0.0,
            died,
            False,
            {"events": events, "telemetry": self._client.telemetry()},
        )

    def render(self) -> Frame:
        return self._client.frame() if self._client else np.zeros((*self.size, 3), np.uint8)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _start(self, seed: int, options: dict[str, Any]) -> Start:
        unknown = set(options) - START_FIELDS
        if unknown:
            raise UserError(
                f"{self.name}: unknown reset option {sorted(unknown)[0]!r}; known: {', '.join(sorted(START_FIELDS))}"
            )
        start = episode_start(self.world, seed).command() | options
        return Start(**start)

    def _ready_client(self) -> Client:
        """The running engine; a new one if there is none, if it died, or if it has grown too large."""
        if self._client is not None:
            alive = self._client.engine.alive
            if not alive or self._client.engine.resident_bytes > self._memory_bytes:
                self.close()
        if self._client is None:
            self._client = Client(self.name, self.world, self.size)
            self._hands.release()
        return self._client
