"""Training on files with siblings: forks come whole, shared frames are encoded once, and nothing else changes."""

import numpy as np
import pytest
import torch

from actswm.controls import KEYS14
from actswm.data import Column, DatasetSpec, DatasetWriter
from actswm.training import load_config, train
from actswm.training.data import WindowData
from actswm.training.module import TrainingModule

from ..conftest import SIZE, square_episode

FORK, CONTEXT, ROWS = 40, 12, 25
"""Siblings repeat rows 28 .. 40 of their episode and have 12 of their own: one window of 7 frames."""


@pytest.fixture(scope="module")
def family_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("families") / "square.h5"
    spec = DatasetSpec(KEYS14, SIZE, SIZE, fps=20.0, source="made/square", columns={"repeats": Column("int64")})
    rng = np.random.default_rng(0)
    with DatasetWriter(path, spec) as writer:
        for _ in range(4):
            first = writer.num_frames
            pixels, action = square_episode(rng, 100)
            writer.append(pixels, action, repeats=np.zeros(100, int))
            for _ in range(3):
                own, taken = square_episode(rng, ROWS - CONTEXT - 1)
                shared = slice(FORK - CONTEXT, FORK + 1)
                distance = writer.num_frames - first - (FORK - CONTEXT)
                writer.append(
                    np.concatenate([pixels[shared], own]),
                    np.concatenate([action[shared], taken]),
                    repeats=np.where(np.arange(ROWS) <= CONTEXT, distance, 0),
                )
    return path


def windows_of(path, *overrides):
    config = load_config("tiny/contrast", ["training.place.windows=3", "training.batch=12", *overrides])
    return config, WindowData(config, path, 7)


def test_half_of_the_places_are_whole_forks(family_file):
    _, data = windows_of(family_file)
    pixels, _, rows, _ = next(iter(data.train_dataloader()))
    assert pixels.shape[:2] == rows.shape == (12, 7)
    for fork in rows.split(3)[2:]:
        assert (fork[:, :4] == fork[0, :4]).all(), "the context is shared"
        assert len(fork[:, 4:].unique()) == 9, "three futures of three frames"
    for place in rows.split(3)[:2]:
        assert (place.diff(dim=1) == 4).all()


def test_frames_that_are_shown_again_are_encoded_once(family_file, monkeypatch):
    config, data = windows_of(family_file)
    module = TrainingModule(config).train()
    batch = next(iter(data.train_dataloader()))
    once, counted = module.losses(batch, 0), []
    original = module.model.encoder.forward
    monkeypatch.setattr(module.model.encoder, "forward", lambda x: counted.append(len(x)) or original(x))
    module.losses(batch, 0)
    assert counted == [len(batch[2].unique())] and counted[0] < batch[2].numel()
    monkeypatch.setattr(type(module.model), "encode", lambda model, pixels, rows: _each(model, pixels))
    torch.testing.assert_close(module.losses(batch, 0).total, once.total)


def _each(model, pixels):
    frames = (pixels.flatten(0, 1).permute(0, 3, 1, 2).float() - model.pixel_mean) / model.pixel_std
    return model.projector(model.encoder(frames)).unflatten(0, pixels.shape[:2])


def test_a_run_on_siblings(family_file, tmp_path):
    config, _ = windows_of(family_file, "training.steps=8", "training.threads=1")
    assert train(config, family_file, tmp_path / "run").steps == 8
