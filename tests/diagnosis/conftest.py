from pathlib import Path

import pytest

from actswm import WorldModel
from actswm.training import load_config, train


def trained(folder: Path, data: Path, preset: str, steps: int) -> WorldModel:
    settings = ["training.learning_rate=5e-3", "objective.readout.weight=10", "training.threads=1"]
    config = load_config(preset, [f"training.steps={steps}", *settings])
    return WorldModel.from_pretrained(train(config, data, folder).model_folder)


@pytest.fixture(scope="session")
def frozen_model(square_file, tmp_path_factory):
    """A briefly trained ActSWM of the made world; its readout never moved."""
    return trained(tmp_path_factory.mktemp("frozen") / "run", square_file, "tiny/actswm", 120)


@pytest.fixture(scope="session")
def joint_model(square_file, tmp_path_factory):
    return trained(tmp_path_factory.mktemp("joint") / "run", square_file, "tiny/joint-readout", 120)
