"""Whatever interrupts a run, and whenever: it goes on to the very weights of a run that nothing interrupted."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch
from safetensors.torch import load_file

from actswm.errors import UserError
from actswm.training import load_config, train
from actswm.training.interruption import Interruption
from actswm.training.module import TrainingModule
from actswm.training.validation import Validation

OPTIONS = [
    "training.threads=1", "training.steps=24", "training.log_every=3", "training.validate_every=6",
    "training.validation_windows=32",
]  # fmt: skip


@pytest.fixture(scope="module")
def whole(square_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    train(load_config("tiny/actswm", OPTIONS), square_file, folder)
    return folder


def same(one, other):
    a, b = (load_file(folder / "model" / "model.safetensors") for folder in (one, other))
    return all(torch.equal(a[name], b[name]) for name in a)


def log_of(folder):
    with open(folder / "logs" / "metrics.csv", newline="") as file:
        return [{name: cell for name, cell in row.items() if cell} for row in csv.DictReader(file)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["forward", "backward", "optimizer", "between", "validation"])
def test_a_signal_at_any_moment_of_a_step(square_file, tmp_path, whole, monkeypatch, number, moment):
    """The signal comes in step 13, once it is at `moment`: the counts and the weights are then of different steps."""
    config = load_config("tiny/actswm", OPTIONS)
    sent = []

    def send(module):
        if module.global_step >= 12 and not sent:
            sent.append(module.global_step)
            os.kill(os.getpid(), number)

    hooks = {
        "forward": "on_train_batch_start", "backward": "on_before_backward",
        "optimizer": "on_before_optimizer_step", "between": "on_train_batch_end",
    }  # fmt: skip
    if moment == "validation":
        measure = Validation.measure

        def interrupted(self, module, step):
            send(module)
            return measure(self, module, step)

        monkeypatch.setattr(Validation, "measure", interrupted)
    elif moment == "optimizer":
        step = torch.optim.AdamW.step

        def stepped(self, *arguments, **options):
            result = step(self, *arguments, **options)
            if self.state and int(next(iter(self.state.values()))["step"]) >= 13 and not sent:
                sent.append(13)
                os.kill(os.getpid(), number)
            return result

        monkeypatch.setattr(torch.optim.AdamW, "step", stepped)
    else:
        monkeypatch.setattr(TrainingModule, hooks[moment], lambda module, *_: send(module), raising=False)
    with pytest.raises(KeyboardInterrupt):
        train(config, square_file, tmp_path / "run")
    assert sent
    monkeypatch.undo()
    step = torch.load(tmp_path / "run" / "last.ckpt", weights_only=True)["global_step"]
    assert 12 <= step <= 14
    train(config, square_file, tmp_path / "run", resume=True)
    assert same(tmp_path / "run", whole) and log_of(tmp_path / "run") == log_of(whole)


def test_a_second_signal_does_not_wait():
    with Interruption() as interruption:
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interruption() as interruption:
            os.kill(os.getpid(), signal.SIGINT)
        assert not interruption.asked and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_reaches_the_loader_processes_too(square_file, tmp_path):
    """A terminal sends it to the whole group; the processes that load must not fall over it."""
    command = [sys.executable, "-m", "actswm", "train", "tiny/lewm", "training.threads=1", "training.workers=2"]
    command += ["training.steps=100000", "--quiet", "--data", str(square_file), "--out", str(tmp_path / "run")]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    while not (tmp_path / "run" / "logs" / "metrics.csv").exists():
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130 and err.strip().splitlines()[-1] == "actswm: interrupted", err
    assert "Traceback" not in err and (tmp_path / "run" / "last.ckpt").exists()


def _flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _put(text):
    return lambda path: path.write_bytes(text)


DAMAGES = {
    "one flipped bit": ("last.ckpt", _flip, "last.ckpt: damaged"),
    "half a checkpoint": (
        "last.ckpt", lambda path: path.write_bytes(path.read_bytes()[:9000]), "last.ckpt: damaged",
    ),
    "no checkpoint": ("last.ckpt", _put(b"x"), "last.ckpt: damaged"),
    "another's state": ("last.ckpt", lambda path: torch.save({"a": 1}, path), "last.ckpt: damaged"),
    "broken yaml": ("config.yaml", _put(b"a: [b"), "config.yaml: damaged: not valid YAML"),
    "empty yaml": ("config.yaml", _put(b""), "config.yaml: damaged: not a configuration"),
    "a list": ("config.yaml", _put(b"- 1"), "config.yaml: damaged: not a configuration"),
    "a number for a section": ("config.yaml", _put(b"model: 3"), "config.yaml: damaged: bad setting"),
    "not text": ("config.yaml", _put(b"\xff\xfe\x00"), "config.yaml: damaged"),
    "interpolated": ("config.yaml", _put(b"training: {mask: '${oc.env:HOME}'}"), "write the value itself"),
    "log of bytes": ("logs/metrics.csv", _put(b"step,loss\n\xff,1\n"), "metrics.csv: damaged"),
    "log of words": ("logs/metrics.csv", _put(b"step,loss\none,1\n"), "metrics.csv: damaged"),
    "log without steps": ("logs/metrics.csv", _put(b"loss\n1\n"), "metrics.csv: damaged"),
    "log too wide": ("logs/metrics.csv", _put(b"step\n1,2\n"), "metrics.csv: damaged"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_is_refused_in_one_line(square_file, tmp_path, name):
    file, damage, message = DAMAGES[name]
    config = load_config("tiny/lewm", ["training.steps=2", "training.threads=1"])
    train(config, square_file, tmp_path)
    damage(tmp_path / file)
    with pytest.raises(UserError, match=message):
        train(config, square_file, tmp_path, resume=True)


def _step_list(saved):
    saved["optimizer_states"][0]["state"][3]["step"] = [1]


def _step_far_below_zero(saved):
    saved["optimizer_states"][0]["state"][3]["step"] = torch.tensor(-1e30)


def _no_momentum(saved):
    del saved["optimizer_states"][0]["state"][3]["exp_avg"]


def _no_total(saved):
    del saved["loops"]["fit_loop"]["epoch_loop.automatic_optimization.optim_progress"]["optimizer"]["step"]["total"]


def _word_for_weight(saved):
    saved["state_dict"][next(iter(saved["state_dict"]))] = "x"


@pytest.mark.parametrize("change", [_step_list, _step_far_below_zero, _no_momentum, _no_total, _word_for_weight])
def test_a_training_state_with_something_odd_in_it_is_refused(square_file, tmp_path, change):
    """Lightning and the optimiser notice only when they use it, one of them in the middle of the first step."""
    config = load_config("tiny/lewm", ["training.steps=2", "training.threads=1"])
    train(config, square_file, tmp_path)
    config.training.steps = 3
    (tmp_path / "config.yaml").unlink()
    saved = torch.load(tmp_path / "last.ckpt", weights_only=True)
    change(saved)
    torch.save(saved, tmp_path / "last.ckpt")
    with pytest.raises(UserError, match=r"last\.ckpt: damaged"):
        train(config, square_file, tmp_path, resume=True)


def test_weights_that_are_not_finite_are_not_trained_on(square_file, tmp_path):
    config = load_config("tiny/lewm", ["training.steps=2", "training.threads=1"])
    train(config, square_file, tmp_path)
    saved = torch.load(tmp_path / "last.ckpt", weights_only=True)
    next(iter(saved["state_dict"].values())).fill_(float("nan"))
    torch.save(saved, tmp_path / "last.ckpt")
    with pytest.raises(UserError, match=r"last\.ckpt: .* are not finite"):
        train(config, square_file, tmp_path, resume=True)
    assert json.loads((tmp_path / "model" / "config.json").read_text())["provenance"]["steps"] == 2
