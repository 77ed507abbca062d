"""Engines die, are killed and lose their owner: nothing stays behind, and the game goes on."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from actswm.controls import KEYS14, MINECRAFT
from actswm.games.guard import EngineDied
from actswm.games.minetest import client
from actswm.games.minetest.game import MinetestGame

from ..leftovers import eventually, open_descriptors
from ..traces import local_addresses, processes_in, x_locks_of

pytestmark = pytest.mark.usefixtures("minetest_installed")
LOOPBACK = {"0100007F", "00000000000000000000000001000000"}

OWNER = """
import time
from actswm.games.registry import make_game
game = make_game("minetest/arena", size=(64, 64))
game.reset(seed=0)
print(game._client.engine.folder, flush=True)
time.sleep(600)
"""


def engine_of(game: MinetestGame) -> subprocess.Popen[bytes]:
    assert game._client is not None and game._client.engine.process is not None
    return game._client.engine.process


def display_of(game: MinetestGame) -> subprocess.Popen[bytes]:
    assert game._client is not None
    return game._client.engine.display.process


@pytest.mark.parametrize("victim", [engine_of, display_of])
def test_a_killed_engine_is_told_and_the_next_reset_works(victim, own_temporary_folder: Path) -> None:
    with contextlib.closing(MinetestGame("arena", size=(64, 64))) as game:
        game.reset(seed=0)
        game.step(KEYS14.action(["W"]))
        pids = processes_in(own_temporary_folder)
        os.kill(victim(game).pid, signal.SIGKILL)
        with pytest.raises(EngineDied, match=r"minetest/arena: the engine .*reset\(\)"):
            for _ in range(100):
                game.step(KEYS14.noop())
        assert not processes_in(own_temporary_folder)
        assert not x_locks_of(pids)
        _, before = game.reset(seed=0)
        for _ in range(8):
            info = game.step(KEYS14.action(["W"]))[4]
        way = [info["telemetry"][axis] - before["telemetry"][axis] for axis in "xz"]
        assert np.hypot(*way) > 0.5
    assert list(own_temporary_folder.iterdir()) == []


def test_an_engine_that_died_between_steps_is_replaced_by_reset(own_temporary_folder: Path) -> None:
    with contextlib.closing(MinetestGame("arena", size=(64, 64))) as game:
        game.reset(seed=0)
        first = engine_of(game).pid
        os.kill(first, signal.SIGKILL)
        engine_of(game).wait()
        game.reset(seed=0)
        assert engine_of(game).pid != first


def test_nothing_is_left_when_the_owner_is_killed(own_temporary_folder: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    folder = Path(owner.stdout.readline().strip())
    pids = processes_in(folder)
    assert len(pids) == 2 and folder.is_dir(), "engine and display should run"
    owner.kill()
    owner.communicate()
    assert eventually(lambda: not folder.exists() and not processes_in(own_temporary_folder))
    assert not x_locks_of(pids)


def test_opening_and_closing_leaves_nothing(own_temporary_folder: Path) -> None:
    def cycle() -> None:
        with contextlib.closing(MinetestGame("arena", size=(64, 64))) as game:
            game._ready_client()
            seen.update(processes_in(own_temporary_folder))

    seen: set[int] = set()
    cycle()
    before, shared = open_descriptors(), set(os.listdir("/dev/shm"))
    for _ in range(20):
        cycle()
    assert len(seen) == 42, "each time an engine and a display"
    assert open_descriptors() == before
    assert not processes_in(own_temporary_folder)
    assert not list(own_temporary_folder.iterdir())
    assert not x_locks_of(seen)
    assert not {name for name in set(os.listdir("/dev/shm")) - shared if "actswm" in name}


def walk_side_by_side() -> dict[str, float]:
    """Where two engines that boot together end after W and after S; nothing of one that found no port."""
    poses: dict[str, float] = {}

    def walk(control: str) -> None:
        with contextlib.closing(MinetestGame("arena", size=(64, 64))) as game:
            try:
                game.reset(seed=3, options={"boxes": (), "position": (0.0, 8.5, 0.0), "yaw": 0.0})
                both.wait(120)
            except EngineDied as error:
                assert "port already in use" in str(error)
                both.abort()
                return
            except threading.BrokenBarrierError:
                return
            for _ in range(12):
                info = game.step(KEYS14.action([control]))[4]
            for pid in (engine_of(game).pid, display_of(game).pid):
                assert local_addresses(pid) <= LOOPBACK
            assert local_addresses(engine_of(game).pid), "the engine's server should be bound"
            both.wait(120)
            poses[control] = info["telemetry"]["z"]

    both = threading.Barrier(2)
    threads = [threading.Thread(target=walk, args=(control,)) for control in ("W", "S")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return poses


def test_two_engines_side_by_side_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "BOOT_TRIES", 1)  # each finds a port of its own, even in the same second
    poses = walk_side_by_side() or walk_side_by_side()  # a port is drawn, and somebody else may have it: hardly twice
    assert poses["W"] > 0.5 and poses["S"] < -0.5


def test_steps_that_were_interrupted_at_any_moment_do_not_shift_later_ones() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with contextlib.closing(MinetestGame("arena", size=(64, 64), vocabulary="minecraft")) as game:
        game.reset(seed=0)
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            for delay in np.random.default_rng(0).uniform(0.0005, 0.02, 300):
                with pytest.raises(KeyboardInterrupt):
                    signal.setitimer(signal.ITIMER_REAL, delay)
                    while True:
                        game.step(MINECRAFT.noop())
        finally:
            signal.signal(signal.SIGALRM, before)
        for turn in (10.0, -10.0, 5.0):
            yaw = game.step(MINECRAFT.noop())[4]["telemetry"]["yaw"]
            told = game.step(MINECRAFT.action(values={"yaw": turn}))[4]["telemetry"]["yaw"]
            assert (told - yaw + 180) % 360 - 180 == pytest.approx(turn, abs=0.06)
