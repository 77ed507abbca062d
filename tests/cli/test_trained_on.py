"""Every command that brings a model to data says in one line when the data's rate or size is another."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest
from typer.testing import CliRunner

from actswm.cli.main import app
from actswm.cli.trained_on import warn_of_other_frames
from actswm.saved_models import read_config
from actswm.training import load_config, train

from ..model.small_models import disturbed, small_config
from ..recovery.test_annotation import made_video

QUICK = ("--candidates", 32, "--elites", 4, "--iterations", 2)


@pytest.fixture(scope="module")
def foreign(tmp_path_factory) -> Path:
    """A 64-px model of a game at 35 steps a second; the square world has 32 px at 20."""
    model = disturbed(small_config(context=3, image_size=64, encoding="sliding"))
    data = {"source": "elsewhere", "fps": 35.0, "frame_size": [64, 64]}
    return model.save_pretrained(tmp_path_factory.mktemp("foreign") / "model", {"data": data})


def said(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    lines = [line for line in done.stderr.splitlines() if "model: was trained on" in line]
    assert len(lines) == 1, done.stderr
    return lines[0]


BOTH = "was trained on 35 steps a second, not 20, and frames of 64 x 64 px, not 32 x 32 as in square.h5"


def test_drift_and_recover(foreign, square_file) -> None:
    windows = ("--windows", 3, "--context", 3, "--horizon", 2)
    assert BOTH in said("drift", foreign, "--data", square_file, *windows)
    assert BOTH in said("recover", foreign, "--data", square_file, "--windows", 3, "--steps", 2, *QUICK)


def test_annotate(foreign, tmp_path) -> None:
    video = made_video(tmp_path / "clip.mkv", 10)
    line = said("annotate", foreign, video, "--out", tmp_path / "out.h5", *QUICK)
    assert "was trained on 35 steps a second, not" in line and "px" not in line


def test_plan(foreign, tmp_path) -> None:
    """Frames are made at the model's size; only the rate can be another."""
    foreign_rate = disturbed(small_config()).save_pretrained(tmp_path / "model", {"data": {"fps": 20.0}})
    fast = ("--episodes", 1, "--candidates", 8, "--iterations", 1, "--horizon", 3, "--baselines", "")
    line = said("plan", foreign_rate, "--task", "freedoom/follow-room", *fast, "--out", tmp_path / "plans")
    assert "was trained on 20 steps a second, not 35 as in freedoom/room" in line


def test_training_stores_what_it_saw_and_starting_from_it_compares(square_file, tmp_path) -> None:
    settings = ["training.steps=2", "training.threads=1"]
    config = load_config("tiny/lewm-rollout", settings)
    first = train(config, square_file, tmp_path / "first").model_folder
    stored = read_config(first)["provenance"]["data"]
    assert stored["fps"] == 20.0 and stored["frame_size"] == [32, 32]
    other = tmp_path / "other.h5"
    other.write_bytes(square_file.read_bytes())
    with h5py.File(other, "r+") as file:
        file.attrs["fps"] = 50.0
    command = ("train", "tiny/lewm-rollout", *settings, f"training.start_from={first}", "--quiet")
    assert "20 steps a second, not 50 as in other.h5" in said(
        *command, "--data", other, "--out", tmp_path / "b"
    )


def test_models_that_do_not_tell_and_data_that_fit_say_nothing(square_file, tmp_path, capsys) -> None:
    silent = disturbed(small_config(image_size=32)).save_pretrained(tmp_path / "model")
    warn_of_other_frames(silent, "it", 35.0, (32, 32))
    odd = disturbed(small_config(image_size=32)).save_pretrained(
        tmp_path / "odd", {"data": ["not", "fields"]}
    )
    warn_of_other_frames(odd, "it", 35.0, (32, 32))
    assert capsys.readouterr().err == ""
    warn_of_other_frames(silent, "it", 35.0, (64, 64))
    assert "frames of 32 x 32 px, not 64 x 64 as in it" in capsys.readouterr().err
