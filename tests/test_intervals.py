import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actswm.intervals import bootstrap, bootstrap_ratio, bootstrap_steps


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30))
def test_the_mean_lies_in_its_interval_and_the_interval_in_the_range(values):
    estimate = bootstrap(np.array(values))
    assert estimate.mean == pytest.approx(np.mean(values), abs=1e-9)
    assert min(values) - 1e-9 <= estimate.low <= estimate.high <= max(values) + 1e-9


def test_the_interval_has_the_width_of_the_normal_approximation():
    values = np.random.default_rng(0).normal(2, 1, 400)
    estimate = bootstrap(values)
    assert (estimate.high - estimate.low) / 2 == pytest.approx(1.96 * values.std() / 20, rel=0.1)


def test_windows_are_resampled_whole():
    """Two numbers of one window move together, so a ratio that is the same in each has no spread."""
    size = np.random.default_rng(1).uniform(1, 10, (50, 1))
    estimate = bootstrap_ratio(3 * size, size)[0]
    assert (estimate.low, estimate.mean, estimate.high) == pytest.approx((3, 3, 3))


def test_windows_of_one_group_are_drawn_together():
    """Ten equal windows of each episode say no more than one: the interval is that of the episodes."""
    episodes = np.random.default_rng(2).normal(0, 1, 40)
    groups = np.repeat(np.arange(40), 10)
    together, alone = bootstrap(np.repeat(episodes, 10), groups), bootstrap(episodes)
    assert (together.low, together.mean, together.high) == pytest.approx((alone.low, alone.mean, alone.high))
    apart = bootstrap(np.repeat(episodes, 10))
    assert together.high - together.low > 2.5 * (apart.high - apart.low)
    one = bootstrap(episodes, np.zeros(40, int))
    assert one == alone, "with one episode only its windows can be drawn"


def test_missing_entries_are_left_out():
    some, none = bootstrap_steps(np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]]))
    assert some.mean == 2 and np.isnan(none.mean) and np.isnan(none.low)
