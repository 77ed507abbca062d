import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from actswm.cli.main import app
from actswm.controls import KEYS14
from actswm.data import sample_windows
from actswm.errors import UserError
from actswm.recovery.idm_training import IdmTraining
from actswm.recovery.latent_idm import LatentIdm
from actswm.recovery.latent_training import encoded, train_latent_idm
from actswm.recovery.metrics import score
from actswm.recovery.saved_idm import load_idm, load_motion_idm
from actswm.recovery.windows import truth_of

from ..model.small_models import disturbed, small_config


@pytest.fixture(scope="module")
def world():
    return disturbed(small_config(context=3, image_size=32, encoding="block"))


@pytest.fixture(scope="module")
def trained(world, square_file):
    return train_latent_idm(square_file, world, IdmTraining(400, 64, 3e-3))


def test_latents_tell_the_moves_of_the_made_world(trained, square_file):
    model, _ = trained
    sample = sample_windows(square_file, 20, horizon=8, context=4, split="train")
    truth = truth_of(sample, model.encoding)
    found = model.predict(sample)
    assert found.shape == truth.actions.shape and set(np.unique(found)) <= {0.0, 1.0}
    assert score(found, truth.actions, KEYS14).balanced_accuracy.mean > 0.65


def test_the_world_model_stays_as_it_was(trained, world):
    mine, theirs = trained[0].world.state_dict(), world.state_dict()
    assert mine.keys() == theirs.keys() and all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert not trained[0].train().world.training and not trained[0].eval().training


def test_pairs_are_latents_a_step_apart(trained, world, square_file):
    model, _ = trained
    starts = np.array([3, 4, 5, 7])
    pairs = encoded(model, square_file, starts, np.zeros(4, int))
    sample = sample_windows(square_file, 1, horizon=1, context=1, split="all")
    alone = encoded(model, square_file, sample.rows, np.zeros(1, int))
    dim = world.config.latent_dim
    assert pairs.seen.shape == (4, 2 * dim) and pairs.actions.shape == (4, KEYS14.size)
    assert torch.allclose(pairs.seen[0, :dim] + pairs.seen[0, dim:], pairs.seen[3, :dim], atol=1e-5)
    assert np.array_equal(model.decided(model.actions(alone.seen))[None], model.predict(sample))


def test_saved_whole_and_not_taken_for_another(trained, square_file, tmp_path):
    model, _ = trained
    model.save(tmp_path / "idm", {"seed": 1})
    loaded = load_idm(tmp_path / "idm")
    sample = sample_windows(square_file, 3, horizon=4, context=4)
    assert isinstance(loaded, LatentIdm) and np.array_equal(loaded.predict(sample), model.predict(sample))
    with pytest.raises(UserError, match="network on latents"):
        load_motion_idm(tmp_path / "idm")
    with pytest.raises(UserError, match="frameskip"):
        model.predict(sample_windows(square_file, 2, horizon=4, context=4, frameskip=2))
    config = tmp_path / "idm" / "idm.json"
    told = json.loads(config.read_text())
    told["config"]["hidden"] = 10**9  # would ask for all memory
    config.write_text(json.dumps(told))
    with pytest.raises(UserError, match=r"does not fit idm\.json"):
        load_idm(tmp_path / "idm")


def test_a_row_of_the_table(world, square_file, tmp_path):
    def run(*arguments):
        done = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert done.exit_code == 0, done.output
        return done.output

    model = world.save_pretrained(tmp_path / "world")
    out = run("idm", "--latents", model, "--data", square_file, "--out", tmp_path / "idm", "--steps", 3, "--frames", 50)
    assert "3 steps; validation" in out
    small = ("--windows", 2, "--steps", 2, "--candidates", 8, "--elites", 2, "--iterations", 1)
    run("recover", model, "--data", square_file, *small, "--idm", tmp_path / "idm", "--json", tmp_path / "r.json")
    assert "idm" in json.loads((tmp_path / "r.json").read_text())["scores"]
