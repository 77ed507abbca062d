"""Recording against the real engine: one plan, one file, whatever happens on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from actswm.chunks import RAW_STEPS, load_library
from actswm.controls import KEYS14
from actswm.data import DatasetFile, validate
from actswm.errors import UserError
from actswm.games.branching import branch
from actswm.games.episodes import POSE, Episode, RecordingPlan, record_episode
from actswm.games.forks import FamilyRecorder
from actswm.games.freedoom import FreedoomGame
from actswm.games.guard import EngineDied
from actswm.games.recording import record
from actswm.games.workers import played

from .leftovers import eventually, processes_of, shared_memory_of

PLAN = RecordingPlan("freedoom/maze", seed=3, size=(48, 48), episode_steps=150)
STEPS = 1_000


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "whole.h5"
    reports: list[int] = []
    result = record(PLAN, STEPS, path, progress=reports.append)
    assert (result.frames, result.new_frames, result.episodes) == (STEPS, STEPS, 7)
    assert reports == [0, 150, 300, 450, 600, 750, 900, 1000]
    return path


def contents(path: Path) -> list[np.ndarray]:
    with DatasetFile(path) as file:
        return [
            file.pixels[:],
            file.action[:],
            file.episode_idx[:],
            file.column("seed")[:],
            file.column("pose")[:],
        ]


def assert_same(one: Path, other: Path) -> None:
    for left, right in zip(contents(one), contents(other)):
        assert np.array_equal(left, right)


def test_the_file_is_sound_and_says_where_it_comes_from(whole: Path):
    validate(whole)
    with DatasetFile(whole) as file:
        assert file.source == "freedoom/maze" and file.fps == 35 and file.vocabulary == KEYS14
        assert file.ep_len[:].tolist() == [150] * 6 + [100]
        assert file.attributes["seed"] == 3 and file.attributes["behaviour"] == "explorer"
        assert len(set(file.column("seed")[:])) == 7
        assert np.isfinite(file.column("pose")[:]).all()


def test_every_episode_renders_again_from_seed_and_actions(whole: Path):
    game = PLAN.open_game()
    try:
        with DatasetFile(whole) as file:
            for offset, length in zip(file.ep_offset[:], file.ep_len[:]):
                actions = file.action[offset : offset + length]
                again = branch(game, int(file.column("seed")[offset]), actions[:0], [actions])
                assert np.array_equal(again.start, file.pixels[offset])
                assert np.array_equal(again.futures[0].frames[:-1], file.pixels[offset + 1 : offset + length])
    finally:
        game.close()


def test_the_number_of_workers_does_not_matter(whole: Path, tmp_path: Path):
    path = tmp_path / "three.h5"
    record(PLAN, STEPS, path, workers=3)
    assert_same(whole, path)


def test_a_longer_recording_goes_on_and_a_finished_one_is_left_alone(whole: Path, tmp_path: Path):
    path = tmp_path / "steps.h5"
    record(PLAN, 600, path)
    assert record(PLAN, STEPS, path).new_frames == 400
    assert_same(whole, path)
    assert record(PLAN, 500, path).new_frames == 0


RECORD = """
import sys
from actswm.cli.main import run
sys.argv = ["actswm", "record", "freedoom/maze", "--seed", "3", "--size", "48", "--episode-steps", "150", *sys.argv[1:]]
run()
"""


def start_recording(path: Path, steps: int, workers: int) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", RECORD, "--steps", str(steps), "--workers", str(workers), "--out", str(path)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_recording_is_valid_and_goes_on_to_the_same_result(
    own_temporary_folder: Path, tmp_path: Path, how: signal.Signals, workers: int
):
    path = tmp_path / "killed.h5"
    process = start_recording(path, 200_000, workers)
    assert eventually(lambda: path.exists() and path.stat().st_size > 2 * 150 * 48 * 48 * 3)
    assert eventually(lambda: len(shared_memory_of(own_temporary_folder)) == 3 * workers)
    shared = shared_memory_of(own_temporary_folder)
    if how is signal.SIGINT:
        os.killpg(process.pid, how)  # as a terminal does: the whole group gets it
    else:
        process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == (130 if how is signal.SIGINT else -how), errors
    assert "Traceback" not in errors
    assert eventually(lambda: not list(own_temporary_folder.iterdir()))
    assert eventually(lambda: not processes_of(own_temporary_folder))
    assert not any(path.exists() for path in shared)
    validate(path)
    with DatasetFile(path) as file:
        finished = file.num_frames
        assert finished > 0 and finished % 150 == 0
    record(PLAN, finished + 100, path)
    reference = tmp_path / "reference.h5"
    record(PLAN, finished + 100, reference, workers=2)
    assert_same(path, reference)


def test_a_killed_worker_is_one_line_and_the_file_stays_valid(tmp_path: Path):
    path = tmp_path / "file.h5"
    process = start_recording(path, 200_000, 1)
    assert eventually(lambda: path.exists() and path.stat().st_size > 150 * 48 * 48 * 3)
    for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
            os.kill(int(child), signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors.strip().splitlines()[-1].startswith("actswm: a recording process was killed")
    validate(path)


class KilledOnce:
    """A game whose engine is killed in the middle of its first episode, while it waits for an action."""

    def __init__(self, game: FreedoomGame) -> None:
        self._game, self._left = game, 60

    def __getattr__(self, name: str) -> object:
        return getattr(self._game, name)

    def step(self, action: np.ndarray) -> tuple:
        self._left -= 1
        if self._left == 0:
            engine = self._game._engine
            assert engine is not None
            os.kill(int((engine.folder / "engine.pid").read_text()), signal.SIGKILL)
        return self._game.step(action)


def test_a_killed_engine_is_started_again_without_a_trace_in_the_episode(whole: Path):
    game = KilledOnce(PLAN.open_game())  # type: ignore[arg-type]
    try:
        with pytest.raises(EngineDied):
            record_episode(game, PLAN, 0)
        game._left = 60
        episode = played(FamilyRecorder(game, PLAN), 0, Episode.buffer(PLAN, game), wanted=lambda: True)
        assert np.array_equal(episode.pixels, contents(whole)[0][:150])
    finally:
        game.close()


def test_another_plan_is_refused(whole: Path):
    for change in ({"seed": 4}, {"behaviour": "random"}, {"options": {"controls": ["W"]}}):
        with pytest.raises(UserError, match=r"whole\.h5: was recorded with"):
            record(RecordingPlan(**{**PLAN.__dict__, **change}), STEPS, whole)


@pytest.mark.parametrize(
    "change",
    [{"behaviour": "fly"}, {"game": "freedoom/mase"}, {"options": {"controls": ["Fly"]}}, {"size": (2, 2)}],
)
def test_a_wrong_plan_leaves_no_file(tmp_path: Path, change: dict):
    with pytest.raises(UserError):
        record(RecordingPlan(**{**PLAN.__dict__, **change}), STEPS, tmp_path / "file.h5")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("minetest_installed")
def test_a_tasks_expert_is_recorded_up_to_its_success(tmp_path: Path):
    path = tmp_path / "file.h5"
    plan = RecordingPlan("minetest/build-pillar", size=(48, 48), behaviour="expert", episode_steps=400)
    record(plan, 400, path)
    with DatasetFile(path) as file:
        assert file.source == "minetest/arena" and file.attributes["task"] == "minetest/build-pillar"
        height = file.column("pose")[: file.ep_len[0], POSE.index("y")]
        assert file.ep_len[0] < 300 and height[-1] - height[0] > 8  # it stands on the pillar, and stops soon


@pytest.mark.usefixtures("minetest_installed")
@pytest.mark.parametrize("behaviour", ["explorer", "random"])
def test_a_task_can_be_explored_in_chunks_of_its_library(tmp_path: Path, behaviour: str):
    path = tmp_path / "file.h5"
    record(RecordingPlan("minetest/place-torch", 3, (16, 16), behaviour, 80), 160, path)
    library = load_library("minecraft/place-torch")
    with DatasetFile(path) as file:
        assert file.num_episodes == 2 and file.attributes["behaviour"] == behaviour
        played = file.action.reshape(-1, RAW_STEPS, library.vocabulary.size)
    which = [[np.array_equal(chunk, known.steps) for known in library.chunks].index(True) for chunk in played]
    again = np.mean(np.diff(which) == 0)
    assert (again > 0.5) == (behaviour == "explorer"), "the explorer keeps to a chunk for a while"


def test_only_tasks_have_experts(tmp_path: Path):
    with pytest.raises(UserError, match="unknown task 'freedoom/maze'"):
        record(RecordingPlan("freedoom/maze", behaviour="expert"), STEPS, tmp_path / "file.h5")
    with pytest.raises(UserError, match="unknown behaviour 'nobody'"):
        record(RecordingPlan("minetest/mine-stone", behaviour="nobody"), STEPS, tmp_path / "file.h5")
    with pytest.raises(UserError, match="no starts besides"):
        record(RecordingPlan("freedoom/follow-maze", behaviour="expert"), STEPS, tmp_path / "file.h5")


@pytest.mark.parametrize("world", ["maps", "room", "maze", "turn"])
def test_every_enabled_control_is_active_in_1_to_60_percent_of_the_frames(tmp_path: Path, world: str):
    path = tmp_path / "file.h5"
    plan = RecordingPlan(f"freedoom/{world}", size=(16, 16))
    record(plan, 8_000, path, workers=2)
    with DatasetFile(path) as file:
        active = (file.action[:] > 0).mean(0)
        enabled = np.isin(file.vocabulary.names, file.attributes["effective"])
        place = file.column("pose")[:, :2] // 64
    assert (active[enabled] > 0.01).all() and (active[enabled] < 0.60).all()
    assert (active[~enabled] == 0).all()
    if world == "maze":
        assert len(np.unique(place, axis=0)) > 70  # the whole maze has 87 such squares
