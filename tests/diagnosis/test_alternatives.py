import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from actswm.controls import KEYS14, MINECRAFT, ActionEncoding
from actswm.diagnosis.alternatives import KINDS, Habits, draw_alternatives, edited
from actswm.diagnosis.sensitivity import held_at


def recorded(vocabulary, rows, seed):
    rng = np.random.default_rng(seed)
    keys = np.repeat(rng.random((rows // 5 + 1, vocabulary.size)) < 0.3, 5, 0)[:rows]
    return np.where(vocabulary.binary, keys, rng.normal(0, 2, keys.shape)).astype(np.float32)


def test_a_random_player_has_the_recorded_ones_habits():
    actions = recorded(KEYS14, 20_000, 0)
    habits = Habits.of(KEYS14, actions)
    played = habits.play(20_000, np.random.default_rng(1))
    assert set(np.unique(played)) == {0, 1}
    assert np.allclose(played.mean(0), actions.mean(0), atol=0.04)
    switches = lambda a: (a[1:] != a[:-1]).mean(0)  # noqa: E731
    assert np.allclose(switches(played), switches(actions), atol=0.02)


def test_controls_that_were_never_used_stay_unused():
    actions = recorded(KEYS14, 500, 0) * (np.arange(14) < 3)
    played = Habits.of(KEYS14, actions).play(300, np.random.default_rng(0))
    assert played[:, :3].any() and not played[:, 3:].any()


def test_cameras_move_as_far_as_recorded():
    habits = Habits.of(MINECRAFT, recorded(MINECRAFT, 4000, 2))
    yaw = habits.play(4000, np.random.default_rng(0))[:, MINECRAFT.index("yaw")]
    assert yaw.std() == pytest.approx(2, rel=0.1) and (yaw[0:4] == yaw[0]).all()


@given(st.integers(0, 1000), st.sampled_from([KEYS14, MINECRAFT]))
def test_eight_alternatives(seed, vocabulary):
    mine, one, other = (recorded(vocabulary, 24, seed + i) for i in range(3))
    habits = Habits.of(vocabulary, recorded(vocabulary, 400, seed))
    controls = vocabulary.names[-3:]
    drawn = draw_alternatives(mine, [one, other], controls, habits, np.random.default_rng(seed))
    assert drawn.shape == (len(KINDS), 24, vocabulary.size)
    assert np.array_equal(drawn[0], mine) and not drawn[1].any()
    assert np.array_equal(drawn[2], one) and np.array_equal(drawn[3], other)
    touched = [np.flatnonzero((edit != mine).any(0)).tolist() for edit in drawn[4:6]]
    assert all(len(columns) <= 1 for columns in touched)
    assert {vocabulary.names[column] for columns in touched for column in columns} <= set(controls)


def test_an_edit_turns_the_control_over():
    actions = np.zeros((10, KEYS14.size), np.float32)
    actions[:6, 0], actions[:4, 1] = 1, 1
    habits = Habits.of(KEYS14, actions)
    assert not edited(actions, habits, "W")[:, 0].any()
    assert edited(actions, habits, "A")[:, 1].all()


@pytest.mark.parametrize("kind", ["block", "sliding"])
def test_a_held_control_in_step_actions(kind):
    encoding = ActionEncoding(MINECRAFT, kind, 4)
    raw = recorded(MINECRAFT, 20, 0)
    for control, value in (("forward", 1.0), ("forward", 0.0), ("yaw", 1.5)):
        held = raw.copy()
        held[:, MINECRAFT.index(control)] = value
        steps = held_at(torch.from_numpy(encoding.step_actions(raw)), encoding, control, value)
        assert np.allclose(steps.numpy(), encoding.step_actions(held))
