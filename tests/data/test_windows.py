import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actswm.data import DatasetFile, WindowShape, split_episodes, starts_in, valid_starts
from actswm.errors import UserError


@st.composite
def recordings(draw):
    """Episode lengths and a validity mask."""
    lengths = draw(st.lists(st.integers(1, 30), min_size=1, max_size=6))
    rows = sum(lengths)
    valid = np.array(draw(st.lists(st.sampled_from([True, True, True, False]), min_size=rows, max_size=rows)))
    episode = np.repeat(np.arange(len(lengths)), lengths)
    boundary = np.zeros(rows, bool)
    ends = np.cumsum(lengths)
    boundary[ends - 1] = boundary[ends - np.array(lengths)] = True
    return episode, valid, boundary


SHAPES = st.builds(
    WindowShape, st.integers(1, 8), st.integers(1, 5), st.sampled_from(["strict", "endpoints"])
)


@given(recordings(), SHAPES)
def test_valid_starts_are_exactly_the_windows_that_a_slow_check_accepts(recording, shape):
    episode, valid, boundary = recording
    expected = []
    for start in range(len(episode)):
        rows = np.arange(start, start + (shape.steps - 1) * shape.frameskip + 1)
        if rows[-1] >= len(episode) or len(set(episode[rows])) > 1:
            continue
        checked = rows if shape.validity == "strict" else rows[[0, -1]]
        if valid[checked].all():
            expected.append(start)
    assert valid_starts(episode, valid, boundary, shape).tolist() == expected


def test_a_boundary_inside_an_episode_splits_it():
    """Files of others may mark discontinuities inside one episode."""
    episode, valid, boundary = np.zeros(10, int), np.ones(10, bool), np.zeros(10, bool)
    boundary[[0, 4, 9]] = True
    assert valid_starts(episode, valid, boundary, WindowShape(4, 1)).tolist() == [0, 1, 4, 5, 6]


@given(st.integers(0, 500), st.integers(0, 5))
def test_split_is_a_partition_by_episode(episodes, seed):
    split = split_episodes(episodes, seed)
    together = np.concatenate([split.train, split.validation, split.test])
    assert sorted(together) == list(range(episodes))
    if episodes >= 3:
        assert len(split.validation) == len(split.test) == max(1, round(0.05 * episodes))


def test_too_short_episodes_say_so(square_file):
    with DatasetFile(square_file) as file, pytest.raises(UserError, match="longest has 140 rows"):
        starts_in(file, WindowShape(44, 4), np.arange(3))
