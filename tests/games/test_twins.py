"""Twins, recorded by the real engine: the same moments in another look, kept together and shown side by side."""

import contextlib

import numpy as np
import pytest
import torch

from actswm.controls import MINECRAFT
from actswm.data import open_checked, split_file
from actswm.data.siblings import moments
from actswm.data.twins import twins_of
from actswm.errors import UserError
from actswm.games.episodes import Episode, RecordingPlan
from actswm.games.recording import record
from actswm.games.registry import make_game
from actswm.games.twins import TwinRecorder
from actswm.training import load_config
from actswm.training.data import WindowData

PLAN = RecordingPlan("minetest/mine-stone", seed=3, size=(32, 32), behaviour="expert", episode_steps=40, looks=2)


@pytest.fixture(scope="module")
def twin_file(minetest_installed, tmp_path_factory):
    path = tmp_path_factory.mktemp("twins") / "stone.h5"
    record(PLAN, 8 * 40, path)
    return path


def test_twins_are_the_same_but_for_their_look(twin_file):
    with open_checked(twin_file) as file:
        pose, shown = file.column("pose"), moments(file)
        for begin, length in zip(file.ep_offset[1::2], file.ep_len[1::2], strict=True):
            rows = np.arange(begin, begin + length)
            first = shown[rows]
            assert (first == rows - rows[0] + first[0]).all() and (shown[first] == first).all()
            np.testing.assert_allclose(pose[rows], pose[first], atol=0.01)
            np.testing.assert_array_equal(file.action[rows], file.action[first])
            level = pose[rows, 4] < 10  # later only stone is seen
            assert (file.pixels[rows[level]] != file.pixels[first[level]]).mean() > 0.2
        assert len(set(shown[file.ep_offset].tolist())) == 4


def test_an_episode_depends_on_the_plan_and_its_number_alone(twin_file):
    with open_checked(twin_file) as file:
        begin, length = int(file.ep_offset[5]), int(file.ep_len[5])
        with contextlib.closing(PLAN.open_game()) as game:
            again = TwinRecorder(game, PLAN).record(5, Episode.buffer(PLAN, game), lambda: True)
        np.testing.assert_array_equal(again.action, file.action[begin : begin + length])
        np.testing.assert_array_equal(again.pose, file.column("pose")[begin : begin + length])


def test_only_tasks_have_other_looks():
    plan = RecordingPlan("minetest/arena", looks=2, behaviour="random")
    with pytest.raises(UserError, match="looks need a task"):
        TwinRecorder(make_game("minetest/arena"), plan)


def test_twins_stay_in_one_part_of_the_split(twin_file):
    with open_checked(twin_file) as file:
        split = split_file(file)
        for part in (split.train, split.validation, split.test):
            assert set(part // 2 * 2) | set(part // 2 * 2 + 1) == set(part.tolist())
        assert len(split.train) == 4 and len(split.validation) == len(split.test) == 2


def test_half_of_a_place_is_its_twins(twin_file):
    settings = ["training.place.windows=4", "training.batch=8", f"model.vocabulary={MINECRAFT.name}"]
    for twins in (True, False):
        config = load_config("tiny/contrast", [*settings, f"training.place.twins={twins}"])
        _, _, rows, shown = next(iter(WindowData(config, twin_file, 5).train_dataloader()))
        for place, moment in zip(rows.split(4), shown.split(4)):
            assert torch.equal(moment[:2], moment[2:]) == twins
            assert not (place[:2] == place[2:]).any() or not twins


def test_each_row_is_followed_by_the_next_look():
    shown = np.random.default_rng(0).integers(0, 9, 40)
    for row, twin in enumerate(twins_of(shown)):
        alike = np.flatnonzero(shown == shown[row])
        later = alike[alike > row]
        assert twin == (later[0] if len(later) else alike[0])
