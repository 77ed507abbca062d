import numpy as np
import pytest
import torch

from actswm.recovery.calibration import best_thresholds, fit_calibration, reliability
from actswm.recovery.motion_scoring import separation


def test_a_distortion_is_found_and_taken_back():
    rng = np.random.default_rng(0)
    honest = rng.normal(0, 2, (40_000, 2))
    pressed = rng.random(honest.shape) < 1 / (1 + np.exp(-honest))
    told = torch.from_numpy((honest - [0.5, -1]) / [0.4, 2]).float()
    slope, offset = fit_calibration(told, torch.from_numpy(pressed))
    assert np.allclose(slope, [0.4, 2], atol=0.06) and np.allclose(offset, [0.5, -1], atol=0.08)
    before, after = (
        reliability("W", probability[:, 0].double().numpy(), pressed[:, 0]).error
        for probability in (told.sigmoid(), (told * slope + offset).sigmoid())
    )
    assert before > 0.08 and after < 0.015


def test_the_error_is_the_bins_mean_distance():
    probability, pressed = np.array([0.1, 0.1, 0.1, 0.1, 0.9, 0.9]), np.array([1, 0, 0, 0, 1, 1], bool)
    diagram = reliability("W", probability, pressed)
    assert diagram.count.sum() == 6 and diagram.count[1] == 4
    assert diagram.error == pytest.approx((4 * abs(0.1 - 0.25) + 2 * abs(0.9 - 1)) / 6)


def test_rare_keys_get_a_low_threshold():
    rng = np.random.default_rng(1)
    pressed = rng.random((20_000, 2)) < [0.05, 0.0]
    probability = np.where(pressed, 0.35, 0.02) + rng.uniform(-0.01, 0.05, pressed.shape)
    rare, never = best_thresholds(probability, pressed)
    assert 0.05 < rare < 0.35 and never == 0.5


def test_separation_counts_pairs():
    own, other = np.array([1.0, 2, 2, 3]), np.array([2.0, 4, 0.5])
    pairs = [(1.0 if b > a else 0.5 if a == b else 0.0) for a in own for b in other]
    assert separation(own, other) == pytest.approx(np.mean(pairs))
