"""Training in fp16: its loss scale is part of the state, and a resumed run goes on with it."""

from functools import partial

import lightning as L
import pytest
import torch
from safetensors.torch import load_file

from actswm.training import load_config, train

OPTIONS = [
    "training.threads=1", "training.steps=8", "training.checkpoint_steps=5", "training.precision=16-mixed",
    "training.validation_windows=16", "training.log_every=1",
]  # fmt: skip


class KillAt(L.Callback):
    def __init__(self, step: int) -> None:
        self.step = step

    def on_train_batch_end(self, trainer, *_):
        if trainer.global_step == self.step:
            raise RuntimeError("killed")


def test_an_fp16_run_resumes_to_the_same_weights(square_file, tmp_path, monkeypatch):
    # a scale that is too large at first and grows often: it falls and rises within these steps
    scaler = partial(torch.amp.GradScaler, init_scale=2.0**40, growth_interval=2, backoff_factor=2.0**-20)
    monkeypatch.setattr(torch.amp, "GradScaler", scaler)
    config = load_config("tiny/actswm", OPTIONS)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    train(config, square_file, whole, device="cpu")
    with pytest.raises(RuntimeError, match="killed"):
        train(config, square_file, cut, device="cpu", callbacks=[KillAt(7)])
    kept = _scale(cut)
    assert kept["scale"] not in (2.0**40, _scale(whole)["scale"]), "resuming with another scale would show"
    train(config, square_file, cut, device="cpu", resume=True)
    assert _scale(cut) == _scale(whole)
    one, other = (load_file(folder / "model" / "model.safetensors") for folder in (whole, cut))
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def _scale(folder):
    saved = torch.load(folder / "last.ckpt", weights_only=True)
    return {name: saved["MixedPrecision"][name] for name in ("scale", "_growth_tracker")}
