"""OpenArena against the real engine: every control, restart, death of the engine."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from actswm.controls import KEYS14
from actswm.errors import UserError
from actswm.game import Frame
from actswm.games.guard import EngineDied
from actswm.games.openarena.game import OpenArenaGame

from ..leftovers import open_descriptors
from ..traces import local_addresses, processes_in

pytestmark = pytest.mark.usefixtures("openarena_installed")
STEPS = 8


@pytest.fixture(scope="module")
def game() -> Iterator[OpenArenaGame]:
    with contextlib.closing(OpenArenaGame("oa_dm1")) as game:
        yield game


def play(game: OpenArenaGame, *controls: str) -> tuple[dict[str, float], Frame, Frame]:
    """How the pose changed, and the frames before and after holding `controls`."""
    before, info = game.reset(seed=0)
    for _ in range(STEPS):
        after, *_ = game.step(KEYS14.action(controls))
    for _ in range(2):  # telemetry is a step late
        told = game.step(KEYS14.action(controls))[4]["telemetry"]
    change = {name: told[name] - info["telemetry"][name] for name in told}
    change["yaw"] = (change["yaw"] + 180) % 360 - 180
    change["way"] = float(np.hypot(change["x"], change["y"]))
    return change, before, after


def difference(one: Frame, other: Frame) -> float:
    return float(np.abs(one.astype(int) - other).mean())


def free_way(game: OpenArenaGame, key: str) -> float:
    """How far a key leads; a spawn point may face a wall, then another one is tried."""
    for _ in range(10):
        way = play(game, key)[0]["way"]
        if way > 30:
            break
    return way


def test_every_control_has_its_effect(game: OpenArenaGame) -> None:
    rest, before, after = play(game)
    shimmer = difference(before, after)
    assert rest["way"] == 0 and abs(rest["z"]) <= 1
    ways = {key: free_way(game, key) for key in ("W", "A", "S", "D")}
    assert min(ways.values()) > 30
    slow = max(play(game, "W", "Shift")[0]["way"] for _ in range(3))
    assert 5 < slow < 0.75 * ways["W"]
    assert play(game, "Ctrl")[0]["z"] < -5
    assert play(game, "Jump")[0]["z"] > 5
    assert play(game, "Turn_L")[0]["yaw"] > 20
    assert play(game, "Turn_R")[0]["yaw"] < -20
    for control in ("Fire", "Aim", "Reload", "Look_U", "Look_D"):
        change, before, after = play(game, control)
        assert difference(before, after) > 3 * shimmer + 1, control
        assert change["way"] < 20, control
    assert game.effective.all()


def test_up_and_down_are_two_ways(game: OpenArenaGame) -> None:
    game.reset(seed=0)
    frames = []
    for control in ("Look_U", "Look_D", "Look_D", "Look_U"):
        for _ in range(STEPS):
            frame = game.step(KEYS14.action([control]))[0]
        frames.append(frame)
    up, level, down, level_again = frames
    assert difference(level, level_again) < 0.5 * min(difference(up, level), difference(down, level))


def test_it_binds_no_address_of_the_network(game: OpenArenaGame) -> None:
    game.reset(seed=0)
    assert game._client is not None and game._client.engine.process is not None
    assert local_addresses(game._client.engine.process.pid) <= {"0100007F"}


def test_a_killed_engine_is_told_and_nothing_is_left(own_temporary_folder: Path) -> None:
    with contextlib.closing(OpenArenaGame("oa_dm1", size=(64, 96), bots=2)) as game:
        frame, _ = game.reset(seed=0)
        assert frame.shape == (64, 96, 3)
        assert game._client is not None and game._client.engine.process is not None
        os.kill(game._client.engine.process.pid, signal.SIGKILL)
        with pytest.raises(EngineDied, match="SIGKILL"):
            for _ in range(100):
                game.step(KEYS14.noop())
        before = open_descriptors()
        game.reset(seed=0)
        game.close()
        assert open_descriptors() == before
    assert not processes_in(own_temporary_folder)
    assert not list(own_temporary_folder.iterdir())


def test_wrong_use_names_what_is_wrong() -> None:
    with pytest.raises(UserError, match="bots"):
        OpenArenaGame("oa_dm1", bots=99)
    with pytest.raises(UserError, match="oa_dm9"):
        OpenArenaGame("oa_dm9")
    with pytest.raises(UserError, match="position"):
        OpenArenaGame("oa_dm1").reset(options={"position": 1})
