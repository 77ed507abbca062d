import numpy as np
import pytest

from actswm.data import DatasetFile, sample_windows, split_episodes
from actswm.diagnosis.drift import step_drift
from actswm.diagnosis.probe import drift_probe
from actswm.intervals import bootstrap


def test_the_probe_is_step_drift_on_validation_windows(square_file, frozen_model):
    figures = drift_probe(square_file, context=4, horizon=3, frameskip=4, windows=20)(frozen_model)
    sample = sample_windows(square_file, 20, split="validation", context=4, horizon=3)
    drift = step_drift(frozen_model, sample)
    assert figures["drift_gap"] == pytest.approx(drift.gap("zero")[:, 2].mean(), abs=1e-6)
    assert figures["shuffled_gap"] == pytest.approx(drift.gap("shuffled")[:, 2].mean(), abs=1e-6)
    assert figures["above_copy"] == pytest.approx(drift.gap("copy")[:, 2].mean(), abs=1e-6)
    with DatasetFile(square_file) as file:
        held_out = split_episodes(file.num_episodes).validation
        assert set(file.episode_idx[sample.rows]) <= set(held_out)


def test_the_table_repeats_the_curves(square_file, frozen_model):
    drift = step_drift(frozen_model, sample_windows(square_file, 20, split="train", context=8, horizon=5))
    table = drift.table()
    assert [row.step for row in table] == [1, 2, 3, 4, 5]
    assert [row.zero_gap.mean for row in table] == pytest.approx(
        np.mean(drift.similarity["recorded"] - drift.similarity["zero"], 0).tolist(), abs=1e-6
    )
    assert table[2].copy == bootstrap(drift.similarity["copy"][:, 2], drift.episode)


def test_batches_do_not_matter(square_file, frozen_model):
    sample = sample_windows(square_file, 21, split="train", context=8, horizon=5)
    one, other = step_drift(frozen_model, sample, batch=64), step_drift(frozen_model, sample, batch=4)
    for curve in one.similarity:
        assert np.allclose(one.similarity[curve], other.similarity[curve], atol=1e-5)
