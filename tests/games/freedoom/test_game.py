"""Freedoom against the real engine: each control does something, and nothing depends on more than the seed."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from actswm.controls import KEYS14
from actswm.errors import UserError
from actswm.games import make_game
from actswm.games.freedoom.worlds import WORLDS
from actswm.games.guard import EngineDied

HELD = 12
"""Raw steps that a control is held to see what it does."""


def telemetry_after(game, seed: int, *keys: str, steps: int = HELD) -> tuple[dict[str, float], np.ndarray]:
    game.reset(seed=seed)
    frame, _, _, _, info = game.fast_forward(np.tile(KEYS14.action(keys), (steps, 1)))
    return info["telemetry"], frame


def turned(telemetry: dict[str, float], reference: dict[str, float]) -> float:
    return (telemetry["yaw"] - reference["yaw"] + 180) % 360 - 180


def moved(telemetry: dict[str, float], reference: dict[str, float]) -> float:
    return float(np.hypot(telemetry["x"] - reference["x"], telemetry["y"] - reference["y"]))


def along(telemetry: dict[str, float], reference: dict[str, float]) -> complex:
    """Displacement in the player's own axes: forward + i * left."""
    displacement = complex(telemetry["x"] - reference["x"], telemetry["y"] - reference["y"])
    return displacement * np.exp(-1j * np.radians(reference["yaw"]))


def open_start(game) -> int:
    """A seed whose start has room on all sides."""
    for seed in range(40):
        rest, _ = telemetry_after(game, seed)
        if all(moved(telemetry_after(game, seed, key)[0], rest) > 50 for key in "WASD"):
            return seed
    raise AssertionError("no open start in 40 seeds")


@pytest.mark.parametrize("world", ["maps", "map11", "e1m1"])
def test_all_14_controls_have_their_effect(world: str):
    game = make_game(f"freedoom/{world}")
    try:
        assert game.effective.all()
        seed = open_start(game)
        rest, still = telemetry_after(game, seed)
        effect = {name: telemetry_after(game, seed, name)[0] for name in KEYS14.names}
        assert along(effect["W"], rest).real > 40
        assert along(effect["S"], rest).real < -20
        assert along(effect["A"], rest).imag > 20
        assert along(effect["D"], rest).imag < -20
        assert turned(effect["Turn_L"], rest) > 30
        assert turned(effect["Turn_R"], rest) < -30
        assert effect["Look_U"]["pitch"] < rest["pitch"] - 5
        assert effect["Look_D"]["pitch"] > rest["pitch"] + 5
        assert effect["Ctrl"]["view_height"] < rest["view_height"] - 10
        assert effect["Jump"]["z"] > rest["z"] + 10
        assert effect["Fire"]["ammo"] < rest["ammo"]
        assert effect["Aim"]["fov"] < rest["fov"] - 20
        assert effect["Reload"]["ready"] == 0 and rest["ready"] == 1
        walk, _ = telemetry_after(game, seed, "W", "Shift")
        assert moved(walk, rest) < 0.8 * moved(effect["W"], rest)
        for name in KEYS14.names:
            if name != "Shift":  # alone it only changes how other keys act
                assert not np.array_equal(telemetry_after(game, seed, name)[1], still), name
    finally:
        game.close()


@pytest.mark.parametrize("world", ["turn", "room", "maze"])
def test_the_worlds_controls_have_an_effect_and_the_others_none(world: str):
    game = make_game(f"freedoom/{world}")
    try:
        assert {name for name, on in zip(KEYS14.names, game.effective) if on} == set(WORLDS[world].controls)
        rest, still = telemetry_after(game, 5)
        for name, on in zip(KEYS14.names, game.effective):
            telemetry, frame = telemetry_after(game, 5, name)
            assert np.array_equal(frame, still) != on, name
            assert (telemetry == rest) != on, name
    finally:
        game.close()


def test_reload_fills_the_magazine_and_fire_never_runs_dry():
    game = make_game("freedoom/map11")
    try:
        game.reset(seed=1)
        *_, info = game.fast_forward(np.tile(KEYS14.action(["Fire"]), (30, 1)))
        assert info["telemetry"]["ammo"] < 30
        *_, info = game.fast_forward(np.tile(KEYS14.action(["Reload"]), (40, 1)))
        assert info["telemetry"]["ammo"] == 30
        for _ in range(10):
            before = info["telemetry"]["ammo"]
            *_, info = game.fast_forward(np.tile(KEYS14.action(["Fire"]), (20, 1)))
            assert info["telemetry"]["ammo"] != before
    finally:
        game.close()


@pytest.mark.parametrize("world", ["turn", "room", "maze", "maps"])
def test_seeds_vary_the_start(world: str):
    game = make_game(f"freedoom/{world}", size=(16, 16))
    try:
        starts = [game.reset(seed=seed)[1]["telemetry"] for seed in range(30)]
    finally:
        game.close()
    assert len({round(start["yaw"]) for start in starts}) > 20
    places = {(round(start["x"]), round(start["y"])) for start in starts}
    assert len(places) == 1 if world == "turn" else len(places) > 12


def test_without_a_seed_episodes_differ_but_the_stream_is_the_constructors():
    def three() -> list[int]:
        game = make_game("freedoom/room", seed=8, size=(16, 16))
        try:
            return [game.reset()[1]["seed"] for _ in range(3)]
        finally:
            game.close()

    assert three()[0] == 8 and len(set(three())) == 3 and three() == three()


PLAY = """
import hashlib, sys
import numpy as np
from actswm.games import make_game
from tests.games.freedoom.test_game import play
if len(sys.argv) > 2:
    game = make_game(sys.argv[1]); play(game, 99); game.close()  # another past must not matter
game = make_game(sys.argv[1])
if len(sys.argv) > 2:
    play(game, 77)
sys.stdout.write(play(game, 5))
game.close()
"""


def play(game, seed: int, steps: int = 400) -> str:
    """Digest of the frames and telemetry of an episode of random keys."""
    digest = hashlib.sha256()
    rng = np.random.default_rng(seed)
    frame, info = game.reset(seed=seed)
    for step in range(steps):
        if step % 5 == 0:
            keys = rng.random(KEYS14.size) < 0.3
        digest.update(frame.tobytes() + repr(info["telemetry"]).encode())
        frame, _, terminated, _, info = game.step(keys.astype(np.float32))
        if terminated:
            break
    return digest.hexdigest()


@pytest.mark.parametrize("world", ["maps", "maze", "room", "turn"])
def test_the_same_seed_and_actions_give_bit_identical_frames_in_two_processes(world: str):
    command = [sys.executable, "-c", PLAY, f"freedoom/{world}"]
    one = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    other = subprocess.run([*command, "past"], capture_output=True, text=True, check=True).stdout
    assert one == other and len(one) == 64


def test_death_and_kills_are_events():
    game = make_game("freedoom/map10", monsters=True, size=(16, 16))
    rng = np.random.default_rng(0)
    names: list[str] = []
    try:
        game.reset(seed=3)
        for step in range(6000):
            if step % 20 == 0:
                keys = set(rng.choice(["W", "W", "A", "D", "Turn_L", "Turn_R", "Fire"], 3))
            _, _, terminated, _, info = game.step(KEYS14.action(keys))
            names += [event["name"] for event in info["events"]]
            if terminated:
                break
        assert names[-1] == "death" and names.count("death") == 1
        assert game.step(KEYS14.noop())[2] and game.step(KEYS14.noop())[4]["events"] == []
        _, info = game.reset(seed=3)
        assert info["events"] == [] and info["telemetry"]["health"] == 100
    finally:
        game.close()


def test_a_killed_engine_says_so_and_the_next_reset_works():
    game = make_game("freedoom/room", size=(16, 16))
    try:
        before, _ = game.reset(seed=1)
        os.kill(int((game._engine.folder / "engine.pid").read_text()), signal.SIGKILL)
        with pytest.raises(EngineDied, match=r"freedoom/room.*died.*reset"):
            for _ in range(3):
                game.step(KEYS14.noop())
        with pytest.raises(UserError, match="reset"):
            game.step(KEYS14.noop())
        after, _ = game.reset(seed=1)
        assert np.array_equal(before, after)
    finally:
        game.close()


@pytest.mark.parametrize("world", ["room", "maps"])
def test_an_engine_killed_between_episodes_is_replaced_by_the_next_reset(world: str):
    game = make_game(f"freedoom/{world}", size=(16, 16))
    try:
        before, _ = game.reset(seed=1)
        game.reset(seed=2)
        os.kill(int((game._engine.folder / "engine.pid").read_text()), signal.SIGKILL)
        after, _ = game.reset(seed=1)
        assert np.array_equal(before, after)
    finally:
        game.close()
