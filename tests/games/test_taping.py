"""Episodes of a person: kept whole, or not at all."""

import numpy as np
import pytest

from actswm.controls import KEYS14
from actswm.data import DatasetFile, validate
from actswm.errors import UserError
from actswm.formats.owamcap import read_recording
from actswm.games import make_game
from actswm.games.episodes import RecordingPlan
from actswm.games.taping import BATCH, open_tape

PLAN = RecordingPlan("freedoom/room", size=(16, 16), behaviour="person", episode_steps=0)
INFO = {"events": [], "telemetry": {"x": 3.0, "yaw": 90.0}}


@pytest.fixture
def game():
    return make_game("freedoom/room", size=(16, 16))  # no engine starts before reset


def play(tape, rows, seed=0):
    rng = np.random.default_rng(rows)
    with tape.episode(seed) as add:
        for _ in range(rows):
            add(rng.integers(0, 256, (16, 16, 3), np.uint8), KEYS14.action(["W"]), INFO)


@pytest.mark.parametrize("rows", [1, BATCH - 1, BATCH, 2 * BATCH + 1])
def test_every_row_is_in_the_file(tmp_path, game, rows):
    with open_tape(PLAN, game, tmp_path / "a.h5", None) as tape:
        play(tape, rows, seed=7)
        assert (tape.episodes, tape.frames) == (1, rows)
    validate(tmp_path / "a.h5")
    with DatasetFile(tmp_path / "a.h5") as file:
        rng = np.random.default_rng(rows)
        expected = [rng.integers(0, 256, (16, 16, 3), np.uint8) for _ in range(rows)]
        np.testing.assert_array_equal(file.pixels[:], expected)
        assert (file.column("seed") == 7).all() and (file.action == KEYS14.action(["W"])).all()
        np.testing.assert_array_equal(file.column("pose")[0], [3.0, np.nan, np.nan, 90.0, np.nan])


def test_an_episode_taken_back_and_an_empty_one_leave_nothing(tmp_path, game):
    path, folder = tmp_path / "a.h5", tmp_path / "owamcap"
    with open_tape(PLAN, game, path, folder) as tape:
        play(tape, 3)
        with pytest.raises(ZeroDivisionError), tape.episode(1) as add:
            for _ in range(BATCH + 1):
                add(np.zeros((16, 16, 3), np.uint8), KEYS14.noop(), INFO)
            raise ZeroDivisionError
        play(tape, 0)
        assert (tape.episodes, tape.frames) == (1, 3)
        play(tape, 2)
    with DatasetFile(path) as file:
        assert file.ep_len.tolist() == [3, 2]
    assert sorted(file.name for file in folder.iterdir()) == [
        f"episode-0000{number}.{kind}" for number in (0, 1) for kind in ("mcap", "mkv")
    ]
    assert len(read_recording(folder / "episode-00000.mcap").screen_log_ns) == 3


def test_a_file_is_continued_by_the_same_plan_only(tmp_path, game):
    path = tmp_path / "a.h5"
    for before in (0, 1):
        with open_tape(PLAN, game, path, None) as tape:
            assert tape.before == before
            play(tape, 2)
    other = RecordingPlan("freedoom/room", seed=5, size=(16, 16), behaviour="person", episode_steps=0)
    with pytest.raises(UserError, match="was recorded with seed 0, not 5"), open_tape(other, game, path, None):
        pass


def test_a_new_file_that_got_nothing_is_removed_and_an_old_one_is_not(tmp_path, game):
    path = tmp_path / "a.h5"
    with open_tape(PLAN, game, path, None):
        assert path.exists()
    assert not path.exists()
    with open_tape(PLAN, game, path, None) as tape:
        play(tape, 1)
    with open_tape(PLAN, game, path, None):
        pass
    assert path.exists()
