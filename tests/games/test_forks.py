"""Siblings: recorded by the real engine, found again by their frames."""

import numpy as np
import pytest

from actswm.data import DatasetFile, open_checked, split_file
from actswm.data.siblings import actions_before, first_shown, is_sibling
from actswm.errors import UserError
from actswm.games.branching import branch
from actswm.games.episodes import RecordingPlan
from actswm.games.forks import CONTEXT, FUTURE, Fork, family_size, fork_row, place_in_family
from actswm.games.recording import record
from actswm.games.registry import make_game

PLAN = RecordingPlan("freedoom/maze", seed=3, size=(32, 32), episode_steps=100, branches=2)


@pytest.fixture(scope="module")
def family_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("forks") / "maze.h5"
    record(PLAN, 3 * (100 + 4 * (CONTEXT + FUTURE)), path, workers=2)
    return path


def test_siblings_leave_an_episode_at_its_forks(family_file):
    with open_checked(family_file) as file:
        assert file.ep_len.tolist() == [100, *[CONTEXT + FUTURE] * 4] * 3
        assert is_sibling(file).tolist() == [False, True, True, True, True] * 3
        shown = first_shown(file)
        for family in range(3):
            for sibling in range(4):
                begin = int(file.ep_offset[5 * family + 1 + sibling])
                fork = CONTEXT + 64 * (sibling // 2)
                parents = int(file.ep_offset[5 * family]) + fork - CONTEXT + np.arange(CONTEXT + 1)
                rows = begin + np.arange(CONTEXT + 1)
                assert shown[rows].tolist() == parents.tolist()
                np.testing.assert_array_equal(file.pixels[rows], file.pixels[parents])
                np.testing.assert_array_equal(file.action[rows[:-1]], file.action[parents[:-1]])
                own = rows[-1] + np.arange(1, FUTURE)
                assert shown[own].tolist() == own.tolist()
        first, second = (file.action[file.ep_offset[e] + CONTEXT :][:FUTURE] for e in (1, 2))
        assert (first != second).any(), "siblings do other things"


def test_a_sibling_is_the_true_future_of_its_fork(family_file):
    """Playing all actions since the reset again gives the frames that the file has."""
    with DatasetFile(family_file) as file:
        begin = int(file.ep_offset[8])
        fork, last = begin + CONTEXT, begin + CONTEXT + FUTURE - 1
        prefix, own = actions_before(file, fork), file.action[fork:last]
        np.testing.assert_array_equal(actions_before(file, last), np.concatenate([prefix, own]))
        assert len(prefix) == CONTEXT + 64
        game = make_game("freedoom/maze", size=(32, 32))
        try:
            found = branch(game, int(file.column("seed")[begin]), prefix, [own])
        finally:
            game.close()
        np.testing.assert_array_equal(found.futures[0].frames, file.pixels[fork + 1 : last + 1])


def test_workers_and_interruptions_change_nothing(family_file, tmp_path):
    path = tmp_path / "again.h5"
    record(PLAN, 250, path)  # ends inside a sibling
    with DatasetFile(family_file) as whole, DatasetFile(path) as part:
        np.testing.assert_array_equal(part.pixels[:], whole.pixels[:250])
        np.testing.assert_array_equal(part.column("repeats"), whole.column("repeats")[:250])


def test_families_are_not_split(family_file):
    with DatasetFile(family_file) as file:
        split = split_file(file)
    for part in (split.train, split.validation, split.test):
        assert len(part) == 5 and len(set(part // 5)) == 1


def test_an_episode_that_ended_early_forks_where_it_was():
    assert fork_row(Fork(0, 1), 100, seed=7) == CONTEXT
    early = {fork_row(Fork(1, 0), length, seed=7) for length in (1, 2, 40, 40)}
    assert all(0 <= row < 40 for row in early)
    assert family_size(PLAN) == 5 and place_in_family(PLAN, 7) == (1, Fork(0, 1))


def test_what_cannot_branch_is_refused(tmp_path):
    plan = RecordingPlan("minetest/mine-stone", size=(32, 32), branches=1)
    with pytest.raises(UserError, match="branches need a game"):
        record(plan, 100, tmp_path / "x.h5")
