"""The stock Minetest binary, singleplayer, in lockstep: its folder, settings, boot and raw steps."""

from __future__ import annotations

import shutil
import time
from typing import Any

import numpy as np

from ...errors import UserError
from ...game import Frame
from ..guard import EngineDied
from ..lockstep import Engine
from .settings import configuration, write_world
from .world import World

TELEMETRY = (
    "x", "y", "z", "yaw", "pitch", "health", "breath", "slot", "velocity_x", "velocity_y", "velocity_z",
)  # fmt: skip
"""In the order in which the mod writes it; angles in degrees, right and down positive."""
STEP_NS = 50_000_000
BOOT_TRIES = 3
REAL_PAUSE = 0.002
"""Seconds between two steps of a reset: the map generator works in real time."""
SETTLE_STEPS = 200
"""Raw steps after a reset in which the picture has to come to rest."""
SETTLE_REST = 12
SETTLE_TOLERANCE = 24
"""Sky and water shimmer by less."""


class Client:
    """A running Minetest."""

    def __init__(self, name: str, world: World, size: tuple[int, int]) -> None:
        program = shutil.which("minetest", path="/usr/games:/usr/local/games:/usr/bin:/usr/local/bin")
        if program is None:
            raise UserError(
                "Minetest is missing; install it with: make games (or apt-get install -y minetest xvfb)"
            )
        self._resets = 0
        for attempt in range(BOOT_TRIES):
            self.engine = Engine(name, size)
            try:
                self._boot(program, world, size)
                return
            except EngineDied:  # it takes a port at random, which somebody may have
                self.engine.close()
                if attempt + 1 == BOOT_TRIES:
                    raise
            except BaseException:
                self.engine.close()
                raise

    def _boot(self, program: str, world: World, size: tuple[int, int]) -> None:
        folder = self.engine.folder
        write_world(folder / "world", world)
        (folder / "minetest.conf").write_text(configuration(size, world))
        self.engine.start(
            [program, "--go", "--world", "world", "--gameid", "minetest_game", "--config", "minetest.conf"],
            {"LC_ALL": "C"},
        )
        self.engine.await_boot(lambda: any(event["name"] == "join" for event in self.engine.gate.events()))
        # The server knows the player; the client may still be loading, and draws its first frames after that.
        frames = self.engine.gate.frames
        self.engine.await_boot(lambda: self.engine.gate.frames > frames + 10)
        self.engine.lock(STEP_NS)

    def step(self, keys: list[tuple[int, bool]], mouse: tuple[int, int]) -> list[dict[str, Any]]:
        """One raw step; returns what happened in it."""
        self.engine.step(STEP_NS, keys, mouse)
        return self.engine.gate.events()

    def frame(self) -> Frame:
        return self.engine.gate.frame()

    def telemetry(self) -> dict[str, float]:
        return dict(zip(TELEMETRY, self.engine.gate.telemetry()))

    def begin(self, start: dict[str, Any]) -> None:
        """Set up a start, and step until the world around it is there and drawn."""
        self._resets += 1
        self.engine.gate.command({**start, "id": self._resets})
        end = time.monotonic() + 60.0
        while not any(
            event["name"] == "reset" and event["id"] == self._resets for event in self.step([], (0, 0))
        ):
            if time.monotonic() > end:
                raise EngineDied(
                    f"{self.engine.name}: the world was not generated in 60 s; call reset() again"
                )
            time.sleep(REAL_PAUSE)
        self._settle()

    def _settle(self) -> None:
        """Blocks reach the client over many steps: go on until the picture rests."""
        last, resting = self.frame(), 0
        for _ in range(SETTLE_STEPS):
            self.step([], (0, 0))
            time.sleep(REAL_PAUSE)
            frame = self.frame()
            changed = np.abs(frame.astype(np.int16) - last).max(2) > SETTLE_TOLERANCE
            resting = resting + 1 if changed.mean() < 0.01 else 0
            last = frame
            if resting >= SETTLE_REST:
                return

    def close(self) -> None:
        self.engine.close()
