import csv
import itertools
import json
import os
import signal
import subprocess
import sys
import time

import lightning as L
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from actswm import WorldModel
from actswm.data import sample_windows
from actswm.diagnosis.drift import step_drift
from actswm.errors import UserError
from actswm.masks import apply_mask
from actswm.training import load_config, train
from actswm.training.module import TrainingModule, latent_health, learning_rate_factor
from actswm.training.optimizer import make_optimizer
from actswm.training.run import MODEL_FOLDER

COMMAND = [sys.executable, "-m", "actswm", "train", "tiny/actswm", "training.threads=1", "--quiet"]


def weights(folder):
    return load_file(folder / MODEL_FOLDER / "model.safetensors")


def seconds(folder):
    return json.loads((folder / MODEL_FOLDER / "config.json").read_text())["provenance"]["seconds"]


def logged_steps(folder):
    with open(folder / "logs" / "metrics.csv", newline="") as file:
        return [int(row["step"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    "variant", ["lewm", "lewm-long", "lewm-rollout", "joint-readout", "actswm", "actswm-plus", "contrast"]
)
def test_every_variant_trains(square_file, tmp_path, variant):
    config = load_config(
        f"tiny/{variant}", ["training.steps=12", "training.log_every=4", "training.validate_every=6"]
    )
    result = train(config, square_file, tmp_path / "run", probes=[lambda model: {"drift_gap": 0.5}])
    assert result.validation["drift_gap"] == 0.5 and result.validation["prediction"] > 0
    model = WorldModel.from_pretrained(result.model_folder)
    assert model.context_length == config.model.predictor.context
    with open(tmp_path / "run" / "logs" / "metrics.csv") as file:
        columns = set(next(csv.reader(file)))
    expected = {"loss", "prediction", "sigreg", "latent_std", "latent_rank", "val/drift_gap", "val/loss"}
    assert expected <= columns
    assert ("hinge" in columns) == (variant in ("actswm", "joint-readout", "actswm-plus"))


def test_training_learns_to_obey_the_actions(square_file, tmp_path):
    """In a world that its actions govern, rollouts beat copying and depend on the actions given."""
    config = load_config("tiny/lewm-rollout", ["training.steps=300", "training.learning_rate=3e-3"])
    result = train(config, square_file, tmp_path / "run")
    model = WorldModel.from_pretrained(result.model_folder)
    drift = step_drift(model, sample_windows(square_file, 64, context=4, horizon=8))
    assert drift.mean("recorded")[-1] > 0.1 + drift.mean("copy")[-1]
    assert drift.gap("shuffled").mean(0)[-1] > 0.1


def test_a_killed_run_resumes_to_the_same_weights(square_file, tmp_path):
    options = [
        "--data",
        str(square_file),
        "training.steps=120",
        "training.checkpoint_steps=25",
        "training.log_every=10",
    ]
    whole = tmp_path / "whole"
    subprocess.run([*COMMAND, *options, "--out", str(whole)], check=True, capture_output=True)

    cut = tmp_path / "cut"
    process = subprocess.Popen(
        [*COMMAND, *options, "--out", str(cut)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not (cut / "last.ckpt").exists():
        time.sleep(0.02)
        assert process.poll() is None
    time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    step = torch.load(cut / "last.ckpt", weights_only=True)["global_step"]
    assert 25 <= step < 120 and not (cut / MODEL_FOLDER).exists()

    done = subprocess.run([*COMMAND, *options, "--out", str(cut), "--resume"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name, tensor in weights(whole).items():
        assert torch.equal(tensor, weights(cut)[name]), name
    assert logged_steps(cut) == logged_steps(whole)
    trained = seconds(cut)

    again = subprocess.run(
        [*COMMAND, *options, "--out", str(cut), "--resume"], capture_output=True, text=True
    )
    assert again.returncode == 0, "resuming a finished run leaves it finished"
    for name, tensor in weights(whole).items():
        assert torch.equal(tensor, weights(cut)[name]), name
    assert seconds(cut) == pytest.approx(trained, abs=0.5), (
        "the time of all parts, and no other, is the run's"
    )


def test_ctrl_c_keeps_a_checkpoint(square_file, tmp_path):
    options = ["--data", str(square_file), "training.steps=100000", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(
        [*COMMAND, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / "run" / "logs" / "metrics.csv").exists():
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "Traceback" not in error
    assert torch.load(tmp_path / "run" / "last.ckpt", weights_only=True)["global_step"] > 0


def test_a_run_is_not_overwritten(square_file, tmp_path):
    config = load_config("tiny/lewm", ["training.steps=2"])
    train(config, square_file, tmp_path / "run")
    with pytest.raises(UserError, match="--resume"):
        train(config, square_file, tmp_path / "run")
    config.training.steps = 3
    with pytest.raises(UserError, match="is not this configuration"):
        train(config, square_file, tmp_path / "run", resume=True)


def test_a_loss_that_is_not_finite_stops_the_run(square_file, tmp_path):
    config = load_config(
        "tiny/actswm", ["training.learning_rate=1e12", "training.clip=0", "training.warmup=0"]
    )
    with pytest.raises(UserError, match="not finite at step"):
        train(config, square_file, tmp_path / "run")


def test_a_mask_is_painted_over_half_of_the_windows(monkeypatch):
    config = load_config("tiny/lewm-rollout", ["training.mask=mining"])
    module, seen = TrainingModule(config), []
    monkeypatch.setattr(
        module.objective, "forward", lambda model, batch, *rest: seen.append(batch.pixels.clone())
    )
    pixels = torch.randint(0, 255, (4, 3, 32, 32, 3), dtype=torch.uint8)
    before = pixels.clone()
    rows = torch.zeros(4, 3, dtype=torch.long)
    module.losses((pixels, torch.zeros(4, 2, 56), rows, rows), step=0)
    torch.testing.assert_close(seen[0][2:], before[2:])
    np.testing.assert_array_equal(seen[0][:2], apply_mask("mining", before[:2].numpy()))
    torch.testing.assert_close(pixels, before)


def test_schedule_warms_up_then_falls_to_zero():
    factors = [learning_rate_factor(step, 10, 100) for step in range(101)]
    assert factors[0] == pytest.approx(0.1) and factors[9] == 1 and factors[100] == pytest.approx(0)
    assert all(a >= b for a, b in itertools.pairwise(factors[9:]))


def test_latent_health_sees_collapse():
    torch.manual_seed(0)
    healthy = latent_health(torch.randn(200, 10, 8))
    collapsed = latent_health(torch.randn(200, 10, 1) * torch.ones(8) * 0.1)
    assert healthy["latent_rank"] > 7.8 and collapsed["latent_rank"] < 1.1
    assert healthy["latent_std"] == pytest.approx(1, abs=0.05)


def test_the_working_directory_stays_clean(square_file, tmp_path):
    subprocess.run(
        [*COMMAND, "--data", str(square_file), "training.steps=2", "--out", "run"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    assert os.listdir(tmp_path) == ["run"]


def test_muon_moves_matrices_by_orthogonal_steps_and_the_rest_as_adamw_does(square_file, tmp_path):
    config = load_config("tiny/contrast", ["training.optimizer=muon", "training.muon_rate=0.5"])
    config.training.weight_decay = 0.0
    module = TrainingModule(config)
    optimizer = make_optimizer(module, config.training)
    matrix, vector = module.model.predictor.blocks[0].expand.weight, module.model.predictor.norm.bias
    start = matrix.detach().clone(), vector.detach().clone()
    for parameter in module.parameters():
        parameter.grad = torch.randn_like(parameter)
    optimizer.step()
    moved = torch.linalg.svdvals(matrix.detach() - start[0])
    assert moved.min() > 0.3 * moved.max(), "Newton-Schulz is rough, but no direction is left behind"
    adam = config.training.learning_rate * torch.sign(vector.grad)
    torch.testing.assert_close(start[1] - vector.detach(), adam, rtol=1e-4, atol=1e-8)


def test_a_resumed_muon_run_ends_with_the_same_weights(square_file, tmp_path):
    overrides = ["training.optimizer=muon", "training.steps=14", "training.checkpoint_steps=6", "training.threads=1"]
    config = load_config("tiny/contrast", overrides)

    class Stop(Exception):
        pass

    class StopAt(L.Callback):
        def on_train_batch_start(self, trainer, *rest):
            if trainer.global_step == 9:
                raise Stop

    with pytest.raises(Stop):
        train(config, square_file, tmp_path / "cut", callbacks=[StopAt()])
    train(config, square_file, tmp_path / "cut", resume=True)
    train(config, square_file, tmp_path / "whole")
    cut, whole = weights(tmp_path / "cut"), weights(tmp_path / "whole")
    assert all(torch.equal(cut[name], value) for name, value in whole.items())
