"""A made world that everybody can use: a bright square on a dark field, moved by W A S D."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import settings

from actswm.controls import KEYS14
from actswm.data import Column, DatasetSpec, DatasetWriter

# A shell starts its background jobs with Ctrl+C ignored, and so would be all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
torch.set_num_threads(1)
os.environ.setdefault("HF_HUB_OFFLINE", "1")  # a misspelt model is looked for nowhere
settings.register_profile("actswm", deadline=None)  # shared machines are slow at odd moments
settings.load_profile("actswm")
SIZE = 32


def square_episode(rng: np.random.Generator, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Frames (T, 32, 32, 3) and actions (T, 14); the action of row t moves the square into row t + 1."""
    action = np.zeros((length, KEYS14.size), np.float32)
    held = np.zeros(4)
    position = rng.uniform(4, SIZE - 8, 2)
    pixels = np.full((length, SIZE, SIZE, 3), 20, np.uint8)
    for t in range(length):
        y, x = position.astype(int)
        pixels[t, y : y + 4, x : x + 4] = (220, 180, 40)
        change = rng.random(4) < 0.15
        held = np.where(change, rng.random(4) < 0.4, held)
        action[t, :4] = held
        w, a, s, d = held
        position = np.clip(position + np.array([s - w, d - a]) * 0.7, 0, SIZE - 4)
    return pixels, action


def write_square_file(path: Path, episodes: int = 8, length: int = 140, seed: int = 0) -> Path:
    spec = DatasetSpec(KEYS14, SIZE, SIZE, fps=20.0, source="made/square", columns={"seed": Column("int64")})
    rng = np.random.default_rng(seed)
    with DatasetWriter(path, spec) as writer:
        for number in range(episodes):
            pixels, action = square_episode(rng, length)
            writer.append(pixels, action, seed=np.full(length, number))
    return path


@pytest.fixture(scope="session")
def square_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound dataset file of the made world. Read-only: copy it before changing it."""
    return write_square_file(tmp_path_factory.mktemp("data") / "square.h5")
