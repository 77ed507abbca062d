"""The stock Minetest binary, singleplayer, in lockstep: its folder, settings, boot and raw steps."""

from __future__ import annotations

import math
import shutil
import socket
import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UserError
from ...game import Frame
from ..guard import EngineDied
from ..lockstep import Engine
from .world import World

TELEMETRY = ("x", "y", "z", "yaw", "pitch", "health", "breath", "slot", "velocity_x", "velocity_y", "velocity_z")
"""In the order in which the mod writes it; angles in degrees, right and down positive."""
STEP_NS = 50_000_000
DEGREES_PER_PIXEL = 0.05
PITCH_LIMIT = 89.5
"""The engine's own; it cannot look straight down."""
FIELD_OF_VIEW = 72.0
BOOT_TRIES = 4
SETTLE_STEPS = 200
"""Raw steps after a reset in which the picture has to come to rest."""
SETTLE_REST = 10
SETTLE_TOLERANCE = 24
"""Sky and water shimmer by less."""

KEYS = {
    "forward": "w", "backward": "s", "left": "a", "right": "d", "jump": " ", "sneak": "x", "aux1": "e",
    "dig": "f", "place": "g", "hotbar_next": "n", "inventory": "i", "drop": "q",
    **{f"slot{slot}": str(slot) for slot in range(1, 10)},
}  # fmt: skip
"""Minetest's actions and the keys that we bind them to."""


class Client:
    """A running Minetest."""

    def __init__(self, name: str, world: World, size: tuple[int, int]) -> None:
        program = shutil.which("minetest", path="/usr/games:/usr/local/games:/usr/bin:/usr/local/bin")
        if program is None:
            raise UserError("Minetest is missing; install it with: make games (or apt-get install -y minetest xvfb)")
        self._resets = 0
        for attempt in range(BOOT_TRIES):
            self.engine = Engine(name, size)
            try:
                self._boot(program, world, size)
                return
            except EngineDied:  # somebody else may have taken the port in the meantime
                self.engine.close()
                if attempt + 1 == BOOT_TRIES:
                    raise
            except BaseException:
                self.engine.close()
                raise

    def _boot(self, program: str, world: World, size: tuple[int, int]) -> None:
        folder = self.engine.folder
        _write_world(folder / "world", world)
        (folder / "minetest.conf").write_text(_settings(size, world))
        self.engine.start(
            [program, "--go", "--world", "world", "--gameid", "minetest_game", "--config", "minetest.conf"]
            + ["--port", str(_free_port())],
            {"LC_ALL": "C"},
        )
        self.engine.await_boot(lambda: any(event["name"] == "join" for event in self.engine.gate.events()))
        # The world is there for the server; the client still loads textures until it draws its frames in a row.
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
        while not any(event["name"] == "reset" and event["id"] == self._resets for event in self.step([], (0, 0))):
            if time.monotonic() > end:
                raise EngineDied(f"{self.engine.name}: the world was not generated in 60 s; call reset() again")
            time.sleep(0.002)  # the generator works in real time
        self._settle()

    def _settle(self) -> None:
        """Blocks reach the client over many steps: go on until the picture rests."""
        last, resting = self.frame(), 0
        for _ in range(SETTLE_STEPS):
            self.step([], (0, 0))
            frame = self.frame()
            changed = np.abs(frame.astype(np.int16) - last).max(2) > SETTLE_TOLERANCE
            resting = resting + 1 if changed.mean() < 0.01 else 0
            last = frame
            if resting >= SETTLE_REST:
                return

    def close(self) -> None:
        self.engine.close()


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _write_world(folder: Path, world: World) -> None:
    mod = folder / "worldmods" / "actswm"
    mod.mkdir(parents=True)
    for name in ("init.lua", "mod.conf"):
        with as_file(files(__package__).joinpath("mod", name)) as source:
            shutil.copy(source, mod / name)
    # The dummy backend keeps the map in memory: each start of the engine begins in the generator's world.
    (folder / "world.mt").write_text(
        "gameid = minetest_game\nbackend = dummy\nplayer_backend = files\nauth_backend = files\n"
        "creative_mode = false\nenable_damage = true\nload_mod_actswm = true\n"
    )
    settings = {**world.generator, "seed": world.seed, "water_level": 1, "chunksize": 5}
    (folder / "map_meta.txt").write_text(
        "".join(f"{key} = {value}\n" for key, value in settings.items()) + "[end_of_params]\n"
    )


def _settings(size: tuple[int, int], world: World) -> str:
    height, width = size
    # Minetest widens the view on narrow screens, and scales the mouse by the view.
    view = math.radians(FIELD_OF_VIEW) * min(max(math.sqrt(16 / 10 * height / width), 1.0), 1.4)
    sensitivity = DEGREES_PER_PIXEL / (math.tan(view / 2) * 1.3763818698)
    settings: dict[str, Any] = {
        "screen_w": width, "screen_h": height, "fullscreen": False, "vsync": False, "autosave_screensize": False,
        "fps_max": 1000, "fps_max_unfocused": 1000, "pause_on_lost_focus": False,
        "enable_shaders": False, "enable_sound": False, "smooth_lighting": True, "enable_clouds": False,
        "enable_particles": False, "viewing_range": 40, "fov": FIELD_OF_VIEW, "mip_map": False,
        "view_bobbing_amount": 0, "fall_bobbing_amount": 0, "arm_inertia": False, "show_debug": False,
        "hud_scaling": 0.5, "enable_minimap": False, "mouse_sensitivity": f"{sensitivity:.8f}",
        "mg_name": world.generator["mg_name"], "static_spawnpoint": "0,30,0",
        "name": "singleplayer", "language": "en", "update_last_checked": "disabled", "enable_server_mod_check": False,
        "secure.enable_security": False, "server_announce": False, "bind_address": "127.0.0.1",
        "enable_ipv6": False, "ipv6_server": False, "enable_rollback_recording": False, "enable_weather": False,
        "fast_move": True, "movement_speed_fast": 7, "movement_acceleration_fast": 10,
        # Game time comes from the host; nothing in the world may change by itself or by chance.
        "dedicated_server_step": 0.02, "time_speed": 0, "abm_interval": 1e6, "liquid_update": 1.0,
        "enable_fire": False, "active_block_range": 2, "max_block_send_distance": 4,
        "max_simultaneous_block_sends_per_client": 200, "full_block_send_enable_min_time_from_building": 0,
        "server_unload_unused_data_timeout": 1000000, "num_emerge_threads": 1, "mesh_generation_interval": 0,
        **{f"keymap_{action}": f"KEY_KEY_{key.upper()}" if key != " " else "KEY_SPACE" for action, key in KEYS.items()},
    }  # fmt: skip
    return "".join(f"{key} = {str(value).lower() if value is True or value is False else value}\n" for key, value in settings.items())
