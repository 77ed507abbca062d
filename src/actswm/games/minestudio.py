"""Minecraft through MineStudio, the paper's own simulator: a thin adapter to its `MinecraftSim`.

The engine is MineStudio's own download. MineStudio asks on standard input when it is missing, so we look for it
before we import anything of it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ..controls import MINECRAFT
from ..errors import UserError
from ..game import Frame, Step
from .seeds import EpisodeSeeds
from .spaces import action_space, frame_space, played_actions

ENGINE_JAR = Path("engine", "build", "libs", "mcprec-6.13.jar")
COUNTERS = {"mine_block": ("dig", "node"), "use_item": ("use", "item"), "kill_entity": ("kill", "entity")}
"""The simulator's statistics that become events when they rise: name of the event and of its field."""


def worlds() -> tuple[str, ...]:
    return ("survival",)


def make(
    world: str, *, seed: int | None = None, size: tuple[int, int] = (128, 128), **options: Any
) -> MinecraftGame:
    """See `MinecraftGame` for the options."""
    return MinecraftGame(world, seed=seed, size=size, **options)


class MinecraftGame(gymnasium.Env[Any, Any]):
    """Minecraft survival. `inventory` and `biome` are what the player starts with and where, `callbacks`
    MineStudio's own.

    A reset with another seed starts another world. Events: `dig` (node), `use` (item), `kill` (entity), each once
    per count that rose, and `death`. Telemetry: x, y, z, yaw, pitch, health.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}
    render_mode: str | None = "rgb_array"
    vocabulary = MINECRAFT
    fps = 20.0
    deterministic = False

    def __init__(
        self,
        world: str = "survival",
        *,
        seed: int | None = None,
        size: tuple[int, int] = (128, 128),
        inventory: Mapping[int, Mapping[str, Any]] | None = None,
        biome: str | None = None,
        callbacks: tuple[Any, ...] = (),
    ) -> None:
        if world not in worlds():
            raise UserError(f"unknown Minecraft world {world!r}; known: {', '.join(worlds())}")
        self.name = f"minecraft/{world}"
        self.effective = np.ones(self.vocabulary.size, bool)
        self.size = size
        self.observation_space = frame_space(size)
        self.action_space = action_space(self.vocabulary)
        self._options = {
            "inventory": dict(inventory or {}), "preferred_spawn_biome": biome, "callbacks": list(callbacks),
        }  # fmt: skip
        self._seeds = EpisodeSeeds(seed)
        self._sim: Any = None
        self._sim_seed: int | None = None
        self._counts: dict[tuple[str, str], float] = {}
        self._frame: Frame = np.zeros((*size, 3), np.uint8)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]:
        if options:
            raise UserError(f"{self.name} has no reset options, but got: {', '.join(options)}")
        seed = self._seeds.choose(seed, self.np_random)
        super().reset(seed=seed)
        if self._sim is not None and seed != self._sim_seed:
            self.close()
        if self._sim is None:
            height, width = self.size
            self._sim = _simulator()(
                action_type="env",
                obs_size=(width, height),
                render_size=(640, 360),
                seed=seed,
                **self._options,
            )
            self._sim_seed = seed
        observation, info = self._sim.reset()
        self._counts = _counts(info)
        self._frame = _frame(observation)
        return self._frame, {"events": [], "telemetry": _telemetry(info), "seed": seed}

    def step(self, action: NDArray[np.floating]) -> Step:
        if self._sim is None:
            raise UserError(f"{self.name} is not running; call reset() first")
        observation, reward, terminated, truncated, info = self._sim.step(
            simulator_action(played_actions(self.vocabulary, action))
        )
        counts = _counts(info)
        events: list[dict[str, Any]] = []
        for (counter, what), count in counts.items():
            name, field = COUNTERS[counter]
            events += [{"name": name, field: what}] * int(count - self._counts.get((counter, what), 0))
        self._counts = counts
        telemetry = _telemetry(info)
        if terminated and telemetry.get("health", 1.0) <= 0:
            events.append({"name": "death"})
        details = {"events": events, "telemetry": telemetry}
        self._frame = _frame(observation)
        return self._frame, float(reward), bool(terminated), bool(truncated), details

    def render(self) -> Frame:
        return self._frame

    def close(self) -> None:
        if self._sim is not None:
            self._sim.close()
            self._sim = None


def simulator_action(action: NDArray[np.floating]) -> dict[str, Any]:
    """A raw action as `MinecraftSim.step` wants it: buttons 0/1 and `camera` = [pitch, yaw] in degrees."""
    values = dict(zip(MINECRAFT.names, np.asarray(action).tolist()))
    camera = np.array([values.pop("pitch"), values.pop("yaw")], np.float32)
    return {**{name: int(value > 0.5) for name, value in values.items()}, "camera": camera}


def engine_folder() -> Path:
    """Where MineStudio's engine is; its versions look in different places."""
    chosen = os.environ.get("MINESTUDIO_DIR")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folders = [Path(chosen)] if chosen else [cache / "MineStudio", Path(tempfile.gettempdir(), "MineStudio")]
    for folder in folders:
        if (folder / ENGINE_JAR).is_file():
            return folder
    raise UserError(
        f"MineStudio's engine is missing: no {ENGINE_JAR} in {' or '.join(map(str, folders))}; get it with: "
        "pip install minestudio && python -m minestudio.simulator.entry -y (MINESTUDIO_DIR chooses the folder)"
    )


def _simulator() -> Any:
    os.environ["MINESTUDIO_DIR"] = str(engine_folder())
    try:
        from minestudio.simulator import MinecraftSim
    except ImportError as error:
        raise UserError(
            f"MineStudio cannot be imported ({error}); install it with: pip install minestudio"
        ) from None
    return MinecraftSim


def _frame(observation: Mapping[str, Any]) -> Frame:
    return np.ascontiguousarray(observation["image"], np.uint8)


def _counts(info: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    return {
        (counter, what): float(count)
        for counter in COUNTERS
        for what, count in dict(info.get(counter, {})).items()
    }


def _telemetry(info: Mapping[str, Any]) -> dict[str, float]:
    place = info.get("player_pos", {})
    telemetry = {name: float(place[name]) for name in ("x", "y", "z", "yaw", "pitch") if name in place}
    if "health" in info:
        telemetry["health"] = float(info["health"])
    return telemetry
