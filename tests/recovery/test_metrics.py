import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from actswm.controls import KEYS14, MINECRAFT
from actswm.intervals import resampled_sums
from actswm.recovery.metrics import score, score_grouped


def arrays(seed: int, windows: int = 5, steps: int = 16):
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.05, 0.9, 14)
    recorded = (rng.random((windows, steps, 14)) < rates).astype(np.float32)
    return rng.normal(0.5, 0.6, recorded.shape).astype(np.float32), recorded


@given(st.integers(0, 10_000))
def test_equal_to_scikit_learn(seed):
    recovered, recorded = arrays(seed)
    scores = score(recovered, recorded, KEYS14)
    mine, true = (recovered > 0.5).reshape(-1, 14), (recorded > 0.5).reshape(-1, 14)
    assert scores.key_accuracy.mean == pytest.approx(sk.accuracy_score(true.ravel(), mine.ravel()))
    assert scores.active_accuracy.mean == pytest.approx(
        sk.recall_score(true.ravel(), mine.ravel(), zero_division=0)
    )
    balanced, f1 = [], []
    for i, control in enumerate(scores.controls):
        pair = true[:, i], mine[:, i]
        assert control.pressed_share == pytest.approx(true[:, i].mean())
        assert control.precision.mean == pytest.approx(sk.precision_score(*pair, zero_division=0))
        if 0 < true[:, i].mean() < 1:
            assert control.recall.mean == pytest.approx(sk.recall_score(*pair))
            assert control.f1.mean == pytest.approx(sk.f1_score(*pair))
            assert control.balanced_accuracy.mean == pytest.approx(sk.balanced_accuracy_score(*pair))
            balanced.append(control.balanced_accuracy.mean)
            f1.append(control.f1.mean)
    assert scores.balanced_accuracy.mean == pytest.approx(np.mean(balanced))
    assert scores.f1.mean == pytest.approx(np.mean(f1))


def test_paper_formulas_in_numpy():
    recovered, recorded = arrays(3)
    scores, b = score(recovered, recorded, KEYS14), lambda x: x > 0.5
    assert scores.key_accuracy.mean == pytest.approx((b(recovered) == b(recorded)).mean())
    active = (b(recovered) & b(recorded)).sum() / b(recorded).sum()
    assert scores.active_accuracy.mean == pytest.approx(active)


def test_never_pressed_controls_are_undefined_and_left_out():
    recovered, recorded = arrays(4)
    recorded[..., 5] = 0
    scores = score(recovered, recorded, KEYS14)
    assert np.isnan(scores.controls[5].recall.mean) and np.isnan(scores.controls[5].balanced_accuracy.mean)
    others = [c.balanced_accuracy.mean for i, c in enumerate(scores.controls) if i != 5]
    assert scores.balanced_accuracy.mean == pytest.approx(np.mean(others))


@given(st.integers(0, 1000))
def test_intervals_hold_the_value_and_vanish_without_variation(seed):
    recovered, recorded = arrays(seed)
    one = score(recovered, recorded, KEYS14).key_accuracy
    assert one.low <= one.mean <= one.high and one.low < one.high
    same = score(*(np.repeat(part[:1], 4, 0) for part in (recovered, recorded)), KEYS14).key_accuracy
    assert same.low == pytest.approx(same.mean) and same.high == pytest.approx(same.mean)


def test_resampled_sums_equal_a_loop_over_windows():
    values = np.random.default_rng(0).normal(size=(6, 3))
    sums = resampled_sums(values, 4000)
    assert np.allclose(sums.mean(0), values.sum(0), atol=0.2)
    assert np.allclose(sums.std(0), values.std(0) * np.sqrt(6), rtol=0.1)
    assert np.array_equal(sums, resampled_sums(values, 4000))


def test_camera_is_scored_by_its_error():
    rng = np.random.default_rng(1)
    recorded = rng.normal(size=(3, 8, MINECRAFT.size)).astype(np.float32)
    scores = score(recorded + 2, recorded, MINECRAFT)
    assert set(scores.camera_error) == {"pitch", "yaw"}
    assert scores.camera_error["yaw"].mean == pytest.approx(2, abs=1e-5)
    assert len(scores.controls) == MINECRAFT.size - 2


def test_groups_of_one_length_are_windows():
    recovered, recorded = arrays(3)
    groups = np.repeat(np.arange(5), 16)
    flat = score_grouped(recovered.reshape(80, 14), recorded.reshape(80, 14), KEYS14, groups)
    whole = score(recovered, recorded, KEYS14)
    assert flat.controls == whole.controls and flat.f1 == whole.f1
    assert flat.balanced_accuracy == whole.balanced_accuracy and flat.key_accuracy == whole.key_accuracy
