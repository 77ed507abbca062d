"""Freedoom with its status bar, weapon and menus. The engine ends an episode with the death: there is no death view."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...controls import KEYS14
from ...games.freedoom.engine import import_vizdoom
from .takes import PLAY, Take, TakeWriter, wander

FPS = 35
_BUTTONS = (
    "MOVE_FORWARD MOVE_LEFT MOVE_BACKWARD MOVE_RIGHT SPEED CROUCH ATTACK ALTATTACK RELOAD JUMP "
    "TURN_LEFT TURN_RIGHT LOOK_UP LOOK_DOWN TURN_LEFT_RIGHT_DELTA"
).split()
_MAPS = ("map01", "map02", "map03", "map07", "map11", "map12", "map15", "map20")


def freedoom_take(folder: Path, seed: int, seconds: float) -> Take:
    """Play, a menu in the middle, play; flicks of the mouse among it."""
    rng = np.random.default_rng([seed, 35])
    doom = _engine(folder, seed, _MAPS[seed % len(_MAPS)])
    writer = TakeWriter(folder / f"freedoom-{seed}.mkv", FPS, (360, 640))
    try:
        first = round(seconds * FPS * rng.uniform(0.3, 0.5))
        _play(doom, writer, rng, first)
        for menu in rng.permutation(["menu_main", "menu_options"])[: 1 + seed % 2]:
            doom.send_game_command(str(menu))
            doom.advance_action(2, True)
            for _ in range(round(FPS * rng.uniform(2.5, 4.0))):
                _step(doom, [0.0] * len(_BUTTONS), writer, "menu")
            doom.send_game_command("closemenu")
            doom.advance_action(2, True)
        _play(doom, writer, rng, round(seconds * FPS) - first)
    finally:
        doom.close()
    return writer.close()


def freedoom_screens(folder: Path, seeds: Sequence[int], places: int = 4) -> None:
    """Pictures to learn a pack from, in folders by state: play and each menu, in many places."""
    for seed in seeds:
        rng = np.random.default_rng([seed, 36])
        doom = _engine(folder, seed, _MAPS[seed % len(_MAPS)])
        try:
            for place in range(places):
                for step, action in enumerate(wander(rng, 3 * FPS, FPS)):
                    doom.set_action([*action.tolist(), 0.0])
                    doom.advance_action(1, True)
                    if step % 12 == 0:
                        _save(doom, folder / "play" / f"{seed}-{place}-{step}.png")
                for menu in ("main", "options"):
                    doom.send_game_command(f"menu_{menu}")
                    for number in range(2):  # its skull blinks
                        doom.advance_action(5, True)
                        _save(doom, folder / f"menu-{menu}" / f"{seed}-{place}-{number}.png")
                    doom.send_game_command("closemenu")
                    doom.advance_action(2, True)
        finally:
            doom.close()


def _save(doom: Any, path: Path) -> None:
    import cv2

    path.parent.mkdir(parents=True, exist_ok=True)
    state = doom.get_state()
    if state is not None:
        cv2.imwrite(str(path), state.screen_buffer[..., ::-1])


def _play(doom: Any, writer: TakeWriter, rng: np.random.Generator, steps: int) -> None:
    flick = 0.0
    for action in wander(rng, steps, FPS):
        if rng.random() < 0.5 / FPS:  # about every second second: up to 120 degrees in a few frames
            flick = float(rng.uniform(-1, 1)) * 40
        turn = flick if abs(flick) > 3 else 0.0
        flick *= 0.6
        if not _step(doom, [*action.tolist(), turn], writer, PLAY):
            doom.new_episode()


def _step(doom: Any, action: list[float], writer: TakeWriter, label: str) -> bool:
    doom.set_action(action)
    doom.advance_action(1, True)
    state = doom.get_state()
    if state is None:
        return False
    writer.add(state.screen_buffer, label)
    return True


def _engine(folder: Path, seed: int, level: str) -> Any:
    vizdoom = import_vizdoom()
    doom = vizdoom.DoomGame()
    doom.set_doom_config_path(str(folder / f"freedoom-{seed}.ini"))
    doom.set_doom_game_path(str(Path(str(vizdoom.__file__)).parent / "freedoom2.wad"))
    doom.set_doom_map(level)
    doom.set_doom_skill(2)
    doom.set_seed(seed)
    doom.set_mode(vizdoom.Mode.PLAYER)
    doom.set_screen_resolution(vizdoom.ScreenResolution.RES_640X360)
    doom.set_screen_format(vizdoom.ScreenFormat.RGB24)
    doom.set_window_visible(False)
    doom.set_sound_enabled(False)
    doom.set_render_hud(True)
    doom.set_render_weapon(True)
    doom.set_render_crosshair(True)
    doom.set_render_messages(True)
    doom.set_render_screen_flashes(True)
    doom.set_episode_start_time(14)
    doom.set_available_buttons([getattr(vizdoom.Button, name) for name in _BUTTONS])
    doom.add_game_args("+sv_jump 2 +sv_freelook 2 +cl_run 1 +god")
    doom.init()
    doom.send_game_command("god")
    assert len(_BUTTONS) == KEYS14.size + 1
    return doom
