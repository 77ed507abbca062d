"""A real recording of Freedoom's room, and a small model that takes its frames."""

from __future__ import annotations

from pathlib import Path

import pytest

from actswm.games.episodes import RecordingPlan
from actswm.games.recording import record
from actswm.model.decoder import Decoder, DecoderConfig, save_decoder

from ..model.small_models import disturbed, small_config

SIZE = 16


@pytest.fixture(scope="session")
def room_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("room") / "room.h5"
    record(RecordingPlan("freedoom/room", size=(SIZE, SIZE), episode_steps=100), 200, path)
    return path


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "made" / "model"
    disturbed(small_config(image_size=SIZE)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another model, beside which a decoder lies."""
    folder = tmp_path_factory.mktemp("runs") / "drawing" / "model"
    model = disturbed(small_config(image_size=SIZE), seed=1)
    model.save_pretrained(folder)
    save_decoder(Decoder(DecoderConfig(model.config.latent_dim, SIZE, 16)), model, folder, {})
    return folder
