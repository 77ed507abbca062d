from __future__ import annotations

import contextlib
import subprocess
import sys
import tomllib
from functools import partial
from importlib import import_module
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from actswm.controls import KEYS14, MINECRAFT
from actswm.errors import UserError
from actswm.game import Game
from actswm.games import game_names, gymnasium_id, make_game
from actswm.games.spaces import MAX_DEGREES, action_space, played_actions

ROOT = Path(__file__).parents[2]


def test_names_every_family_and_map():
    names = game_names()
    assert {"freedoom/turn", "freedoom/room", "freedoom/maze", "freedoom/maps"} <= set(names)
    assert {"freedoom/map11", "freedoom/map32", "freedoom/e1m1", "freedoom/e4m9"} <= set(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("freedoom/mase", "freedoom/maze"), ("fredoom/room", "freedoom/room"), ("maze", "freedoom/maze")],
)
def test_an_unknown_name_suggests_the_nearest(wrong: str, near: str):
    with pytest.raises(UserError, match=f"{wrong!r}.*{near!r}"):
        make_game(wrong)


def test_gymnasium_makes_a_game():
    env = gymnasium.make(gymnasium_id("freedoom/maze"), size=(48, 64), render_mode="rgb_array")
    try:
        assert isinstance(env.unwrapped, Game) and env.render_mode == "rgb_array"
        frame, info = env.reset(seed=3)
        assert frame.shape == (48, 64, 3) and frame.dtype == np.uint8
        assert np.array_equal(env.render(), frame)
        assert info["events"] == [] and info["telemetry"]["health"] == 100
    finally:
        env.close()


CHECKED = [name for name in game_names() if name.startswith("freedoom/")]


@pytest.mark.parametrize("name", CHECKED)
def test_gymnasiums_own_check_passes_on_every_map(name: str):
    env = gymnasium.make(gymnasium_id(name))
    try:
        check_env(env.unwrapped)
    finally:
        env.close()


def test_gymnasium_films_a_game(tmp_path: Path):
    pytest.importorskip("moviepy")
    env = gymnasium.make(gymnasium_id("freedoom/room"), size=64, render_mode="rgb_array")
    with contextlib.closing(gymnasium.wrappers.RecordVideo(env, str(tmp_path))) as filmed:
        filmed.reset(seed=1)
        for _ in range(20):
            filmed.step(filmed.action_space.sample())
    assert [path.suffix for path in tmp_path.iterdir()] == [".mp4"]


def test_rendered_frames_are_collected():
    """What gymnasium's video recorder and stable-worldmodel's `World` do with a game."""
    env = gymnasium.make(gymnasium_id("freedoom/room"), size=64, render_mode="rgb_array_list")
    try:
        env.reset(seed=1)
        env.step(env.action_space.sample())
        assert np.array(env.render()).shape == (2, 64, 64, 3)
    finally:
        env.close()


IMPORTS = ["import actswm, gymnasium", "import gymnasium, actswm", "import gymnasium, actswm.controls"]


@pytest.mark.parametrize(
    "imports", [*IMPORTS, "import gymnasium; gymnasium.make('actswm:actswm/freedoom-maze-v0')"]
)
def test_the_ids_are_known_after_the_import(imports: str):
    program = f"{imports}; assert 'actswm/freedoom-maze-v0' in gymnasium.registry; gymnasium.Env.render"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_games_are_made_in_spawned_workers():
    """A process that has not imported actswm is told where an id comes from: by its spec, or in its name."""
    name, options = gymnasium_id("freedoom/room"), {"size": 32, "render_mode": "rgb_array"}
    make = partial(gymnasium.make, f"actswm:{name}", **options)
    several = {"vectorization_mode": "async", "vector_kwargs": {"context": "spawn"}}
    for start in (
        lambda: gymnasium.vector.AsyncVectorEnv([make, make], context="spawn"),
        lambda: gymnasium.make_vec(name, 2, **several, **options),
    ):
        with contextlib.closing(start()) as envs:
            frames, _ = envs.reset(seed=1)
            assert frames.shape == (2, 32, 32, 3)


def test_the_entry_point_registers_the_games():
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["gymnasium.envs"]
    [target] = entry.values()
    module, name = target.split(":")
    assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize("mode", ["human", "ansi"])
def test_other_ways_to_render_are_refused(mode: str):
    with pytest.raises(UserError, match=f"render_mode {mode!r} is unknown"):
        make_game("freedoom/room", render_mode=mode)


def test_one_number_is_a_square():
    game = make_game("freedoom/room", size=96)
    assert game.observation_space.shape == (96, 96, 3)
    for wrong in ((1, 2, 3), 9.5, "large", (96, None)):
        with pytest.raises(UserError, match="no frame size"):
            make_game("freedoom/room", size=wrong)


def test_actions_beyond_the_box_are_clipped_and_others_refused():
    game = make_game("freedoom/room", size=16)
    try:
        ends = []
        for strength in (1.0, 50.0):
            game.reset(seed=3)
            for _ in range(5):
                *_, info = game.step(strength * KEYS14.action(["W"]) - (strength - 1) * KEYS14.action(["S"]))
            ends.append(info["telemetry"])
        assert ends[0] == ends[1]
        for wrong in (np.zeros(13), np.zeros((1, 14)), np.full(14, np.nan), np.float32(0)):
            with pytest.raises(UserError, match="an action"):
                game.step(wrong)
    finally:
        game.close()
    space = action_space(MINECRAFT)
    wild = MINECRAFT.action(["attack"], {"yaw": 1e6, "pitch": -np.inf}) * 2
    played = played_actions(MINECRAFT, wild)
    assert space.contains(played) and played.max() == MAX_DEGREES and played.min() == -MAX_DEGREES


@pytest.mark.parametrize("name", ["freedoom/room", "minetest/arena"])
def test_an_unknown_option_is_named(name: str):
    with pytest.raises(UserError, match=r"no option 'gravity'"):
        make_game(name, gravity=2)


@pytest.mark.parametrize("options", [{"size": (4, 128)}, {"size": (2000, 2000)}, {"controls": ["Fly"]}])
def test_bad_options_are_the_users_error(options: dict):
    with pytest.raises(UserError):
        make_game("freedoom/room", **options)


def test_the_maze_has_no_weapon_to_control():
    with pytest.raises(UserError, match="no weapon"):
        make_game("freedoom/maze", controls=["W", "Fire"])


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_seeds_out_of_range_are_refused(seed: int):
    game = make_game("freedoom/room")
    with pytest.raises(UserError, match="out of range"):
        game.reset(seed=seed)
