import numpy as np
import pytest

from actswm.data import sample_windows
from actswm.errors import UserError
from actswm.recovery.idm import IdmConfig, InverseDynamics
from actswm.recovery.idm_training import IdmTraining, train_idm
from actswm.recovery.metrics import score
from actswm.recovery.windows import truth_of


@pytest.fixture(scope="module")
def trained(square_file):
    losses = []
    config = IdmConfig(image_size=32, channels=[16, 32], hidden=64)
    model, scores = train_idm(square_file, config, IdmTraining(250, 32), lambda _, loss: losses.append(loss))
    return model, scores, losses


def test_it_reads_moves_off_the_made_world(trained, square_file):
    model, scores, losses = trained
    assert np.mean(losses[-20:]) < 0.6 * np.mean(losses[:20])
    assert scores.key_accuracy.mean > 0.85
    # eight short episodes are enough to learn, not to generalise; opposite keys and walls hide some presses
    sample = sample_windows(square_file, 20, horizon=8, context=4, split="train")
    truth = truth_of(sample, model.encoding)
    guessed = model.predict(sample)
    assert guessed.shape == truth.actions.shape
    assert score(guessed, truth.actions, model.encoding.vocabulary).balanced_accuracy.mean > 0.65


def test_saving_keeps_its_answers(trained, square_file, tmp_path):
    model, *_ = trained
    sample = sample_windows(square_file, 2, horizon=4, context=4)
    model.save(tmp_path / "idm", {"seed": 1})
    assert np.array_equal(InverseDynamics.load(tmp_path / "idm").predict(sample), model.predict(sample))


def test_broken_folders_are_named(tmp_path):
    with pytest.raises(UserError, match="not a saved idm"):
        InverseDynamics.load(tmp_path)
    (tmp_path / "idm.json").write_text("{}")
    with pytest.raises(UserError, match="not a sound idm"):
        InverseDynamics.load(tmp_path)


def test_windows_of_another_frameskip_are_refused(trained, square_file):
    with pytest.raises(UserError, match="frameskip"):
        trained[0].predict(sample_windows(square_file, 2, horizon=4, context=4, frameskip=2))
