from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from actswm.errors import UserError
from actswm.game import Game
from actswm.games import game_names, gymnasium_id, make_game


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


def test_gymnasium_makes_and_checks_a_game():
    env = gymnasium.make(gymnasium_id("freedoom/maze"), size=(48, 64))
    try:
        assert isinstance(env.unwrapped, Game)
        check_env(env.unwrapped, skip_render_check=True)
        frame, info = env.reset(seed=3)
        assert frame.shape == (48, 64, 3) and frame.dtype == np.uint8
        assert info["events"] == [] and info["telemetry"]["health"] == 100
    finally:
        env.close()


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
