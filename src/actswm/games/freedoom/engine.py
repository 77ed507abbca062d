"""One ViZDoom process in a private folder that disappears with it.

The engine reads and writes settings, screenshots and our pk3 relative to its working directory, so it is
started through a launcher script in the private folder. The launcher also tells the guard (see `..guard`) the
engine's process id and shared-memory files.
"""

from __future__ import annotations

import shlex
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ...errors import UserError
from ..guard import Guard, clean
from .watchdog import Watchdog
from .worlds import World

if TYPE_CHECKING:
    import vizdoom

LAUNCHER = """#!/bin/sh
cd {folder} || exit 1
echo $$ > engine.pid
for word in "$@"; do
  [ "$previous" = +viz_instance_id ] && id=$word
  previous=$word
done
printf '/dev/shm/%s\\n' ViZDoomSM$id ViZDoomMQCtr$id ViZDoomMQDoom$id > leftovers
exec {engine} "$@"
"""
ARGUMENTS = (
    "+sv_jump 2 +sv_crouch 2 +sv_freelook 2 +cl_run 1 +neverswitchonpickup 1 +r_clearbuffer 1 "
    "-file actswm.pk3"
)
"""Among them: clear each frame first, or the odd pixel that no wall covers shows what was drawn before, and frames
would not depend on seed and actions alone."""
START_TICS = 14
"""Raw steps at the start of a level in which the weapon comes up; not part of the episode."""
BUTTONS = (
    "MOVE_FORWARD MOVE_LEFT MOVE_BACKWARD MOVE_RIGHT SPEED CROUCH ATTACK ALTATTACK RELOAD JUMP "
    "TURN_LEFT TURN_RIGHT LOOK_UP LOOK_DOWN"
).split()
"""ViZDoom's buttons in the order of KEYS14."""
VARIABLES = {
    "x": "POSITION_X",
    "y": "POSITION_Y",
    "z": "POSITION_Z",
    "yaw": "ANGLE",
    "pitch": "PITCH",
    "view_height": "VIEW_HEIGHT",
    "fov": "CAMERA_FOV",
    "health": "HEALTH",
    "ammo": "SELECTED_WEAPON_AMMO",
    "ready": "ATTACK_READY",
    "kills": "KILLCOUNT",
}
"""Telemetry: our names and ViZDoom's game variables."""


@dataclass(frozen=True)
class EngineSettings:
    world: World
    resolution: str
    monsters: bool
    weapon: bool
    """Draw the weapon?"""
    goal: bool
    """Does a scenario's goal item exist, which ends the level?"""
    sectors: bool = False
    """Should states tell the map's sectors? That takes time in every step."""


def screen_resolution(size: tuple[int, int]) -> str:
    """The smallest 4:3 resolution of the engine with at least as many pixels as `size`."""
    height, width = size
    for columns in (160, 200, 256, 320, 400, 512, 640, 800, 1024, 1280, 1600):
        if columns * columns * 3 // 4 >= height * width:
            return f"RES_{columns}X{columns * 3 // 4}"
    raise UserError(f"frame size {height}x{width} is larger than the engine's 1600x1200")


class Engine:
    """A running ViZDoom; `doom` is its DoomGame. `close` leaves no process, file or folder."""

    def __init__(self, settings: EngineSettings) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="actswm-freedoom-"))
        self._guard = Guard(self.folder)
        self._watchdog = Watchdog(self.folder)
        try:
            self.doom = _start(settings, self.folder)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the engine and remove its folder. May be called again."""
        doom = getattr(self, "doom", None)
        if doom is not None:
            doom.close()
        self._watchdog.release()
        clean(self.folder)
        self._guard.release()


def build_pk3(path: Path, parts: Sequence[str]) -> None:
    """Pack our game rules from package data: `parts` are the texts that make up DECORATE."""
    texts = resources.files("actswm.games.freedoom") / "pk3"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("DECORATE", "".join((texts / part).read_text() for part in parts))
        archive.writestr("KEYCONF", (texts / "KEYCONF").read_text())


def import_vizdoom() -> ModuleType:
    """The engine's Python package."""
    try:
        import vizdoom
    except ImportError as error:
        raise UserError(f"Freedoom needs ViZDoom ({error}); run: pip install vizdoom") from None
    return vizdoom


def _start(settings: EngineSettings, folder: Path) -> vizdoom.DoomGame:
    vizdoom = import_vizdoom()
    package = Path(str(vizdoom.__file__)).parent
    launcher = folder / "launch"
    launcher.write_text(
        LAUNCHER.format(folder=shlex.quote(str(folder)), engine=shlex.quote(str(package / "vizdoom")))
    )
    launcher.chmod(0o700)
    build_pk3(folder / "actswm.pk3", ("DECORATE",) if settings.goal else ("DECORATE", "NOGOAL"))

    doom = vizdoom.DoomGame()
    doom.set_vizdoom_path(str(launcher))
    doom.set_doom_config_path(str(folder / "engine.ini"))
    doom.set_doom_game_path(str(package / settings.world.iwad))
    if settings.world.scenario is not None:
        doom.set_doom_scenario_path(str(Path(vizdoom.scenarios_path) / settings.world.scenario))
    doom.set_doom_map(settings.world.maps[0])
    doom.set_doom_skill(3)
    doom.set_mode(vizdoom.Mode.PLAYER)
    doom.set_episode_start_time(START_TICS)
    doom.set_episode_timeout(0)
    doom.set_screen_resolution(getattr(vizdoom.ScreenResolution, settings.resolution))
    doom.set_screen_format(vizdoom.ScreenFormat.RGB24)
    doom.set_window_visible(False)
    doom.set_sound_enabled(False)
    doom.set_sectors_info_enabled(settings.sectors)
    doom.set_render_hud(False)
    doom.set_render_weapon(settings.weapon)
    doom.set_available_buttons([getattr(vizdoom.Button, name) for name in BUTTONS])
    doom.set_available_game_variables([getattr(vizdoom.GameVariable, name) for name in VARIABLES.values()])
    doom.add_game_args(ARGUMENTS if settings.monsters else f"{ARGUMENTS} -nomonsters")
    doom.init()
    return doom
