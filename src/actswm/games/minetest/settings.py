"""What Minetest reads at its start: the world's folder with our mod, and its configuration."""

from __future__ import annotations

import math
import shutil
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from .world import World

DEGREES_PER_PIXEL = 0.05
PITCH_LIMIT = 89.5
"""The engine's own, in degrees; it cannot look straight down."""
FIELD_OF_VIEW = 72.0

KEYS = {
    "forward": "w", "backward": "s", "left": "a", "right": "d", "jump": " ", "sneak": "x", "aux1": "e",
    "dig": "f", "place": "g", "hotbar_next": "n", "inventory": "i", "drop": "q",
    **{f"slot{slot}": str(slot) for slot in range(1, 10)},
}  # fmt: skip
"""Minetest's actions and the keys that we bind them to; none is one of its own other keys."""


def write_world(folder: Path, world: World) -> None:
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


def configuration(size: tuple[int, int], world: World) -> str:
    height, width = size
    # Minetest widens the view on narrow screens, and scales the mouse by the view.
    view = math.radians(FIELD_OF_VIEW) * min(max(math.sqrt(16 / 10 * height / width), 1.0), 1.4)
    sensitivity = DEGREES_PER_PIXEL / (math.tan(view / 2) * 1.3763818698)
    settings: dict[str, Any] = {
        "screen_w": width, "screen_h": height, "fullscreen": False, "vsync": False, "autosave_screensize": False,
        "fps_max": 1000, "fps_max_unfocused": 1000, "pause_on_lost_focus": False,
        "enable_shaders": False, "enable_sound": False, "smooth_lighting": True, "enable_clouds": False,
        "enable_particles": False, "viewing_range": 32, "fov": FIELD_OF_VIEW, "mip_map": False,
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
    }  # fmt: skip
    for action, key in KEYS.items():
        settings[f"keymap_{action}"] = "KEY_SPACE" if key == " " else f"KEY_KEY_{key.upper()}"
    return "".join(f"{key} = {_written(value)}\n" for key, value in settings.items())


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
