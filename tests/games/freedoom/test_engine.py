"""Engines come and go without a trace, however their owner ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from actswm.errors import UserError
from actswm.games import make_game
from actswm.games.freedoom.engine import build_pk3, screen_resolution

from ..leftovers import eventually, open_descriptors, processes_of, shared_memory_of

OPEN = """
import sys, time
from actswm.errors import UserError
from actswm.games import make_game
game = make_game("freedoom/room")
game.reset(seed=1)
print(game._engine.folder, (game._engine.folder / "engine.pid").read_text(), flush=True)
if "exit" in sys.argv:
    sys.exit()
if "crash" in sys.argv:
    raise RuntimeError("on purpose")
time.sleep(60)
"""


@pytest.mark.timeout(600)
def test_100_open_close_cycles_leave_nothing(own_temporary_folder: Path):
    shared: set[Path] = set()
    for cycle in range(101):
        game = make_game("freedoom/room", size=(16, 16))
        game.reset(seed=cycle)
        shared |= shared_memory_of(own_temporary_folder)
        game.close()
        game.close()  # closing twice is fine
        if cycle == 0:
            descriptors = open_descriptors()  # what the first engine loads stays open once
    assert len(shared) == 3 * 101 and not any(path.exists() for path in shared)
    assert not list(own_temporary_folder.iterdir())
    assert not processes_of(own_temporary_folder)
    assert open_descriptors() <= descriptors


@pytest.mark.parametrize("end", ["kill", "interrupt", "terminate", "exit", "crash"])
def test_nothing_survives_the_owner(end: str):
    owner = subprocess.Popen(
        [sys.executable, "-c", OPEN, end], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert owner.stdout is not None
    folder, engine = owner.stdout.readline().split()
    shared = (Path(folder) / "leftovers").read_text().split() if Path(folder).exists() else []
    signals = {"kill": signal.SIGKILL, "interrupt": signal.SIGINT, "terminate": signal.SIGTERM}
    if end in signals:
        assert len(shared) == 3 and all(Path(path).exists() for path in shared)
        owner.send_signal(signals[end])
    owner.wait(20)
    owner.stdout.close()
    assert eventually(lambda: not Path(folder).exists())
    assert eventually(lambda: not Path(f"/proc/{engine}").exists())
    assert not any(Path(path).exists() for path in shared)


def test_the_engine_writes_nothing_into_the_working_directory(tmp_path: Path):
    subprocess.run([sys.executable, "-c", OPEN, "exit"], cwd=tmp_path, check=True, capture_output=True)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_engine_is_one_line_with_the_command_to_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "vizdoom", None)
    with pytest.raises(UserError, match="pip install vizdoom"):
        make_game("freedoom/room").reset(seed=1)


@pytest.mark.parametrize(
    ("size", "resolution"),
    [
        ((128, 128), "RES_160X120"),
        ((16, 16), "RES_160X120"),
        ((256, 256), "RES_320X240"),
        ((120, 160), "RES_160X120"),
    ],
)
def test_the_engine_draws_just_enough_pixels(size: tuple[int, int], resolution: str):
    assert screen_resolution(size) == resolution


def test_the_pk3_is_the_same_rules_with_or_without_goal(tmp_path: Path):
    build_pk3(tmp_path / "goal.pk3", ("DECORATE",))
    build_pk3(tmp_path / "none.pk3", ("DECORATE", "NOGOAL"))
    with zipfile.ZipFile(tmp_path / "goal.pk3") as goal, zipfile.ZipFile(tmp_path / "none.pk3") as none:
        assert none.read("DECORATE").startswith(goal.read("DECORATE"))
        assert b"GreenArmor" in none.read("DECORATE") and b"GreenArmor" not in goal.read("DECORATE")
