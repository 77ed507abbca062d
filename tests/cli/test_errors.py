"""Bad input: one line that says what to do, exit code 2, nothing overwritten."""

import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

from actswm.cli.main import app
from actswm.errors import UserError


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "actswm", *arguments], capture_output=True, text=True)


def refused(*arguments: str) -> str:
    """The message that a command in this process refuses its input with."""
    result = CliRunner().invoke(app, list(arguments))
    assert isinstance(result.exception, UserError), result.output
    return str(result.exception)


@pytest.fixture
def copy(square_file, tmp_path) -> Path:
    return Path(shutil.copy(square_file, tmp_path / "copy.h5"))


def test_the_process_says_one_line_and_exits_with_2(tmp_path):
    done = run("train", "tiny/actswm", "--data", str(tmp_path / "absent.h5"))
    assert done.returncode == 2 and done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert (
        len(lines) == 1 and lines[0].startswith("actswm: ") and "absent.h5: no such dataset file" in lines[0]
    )


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _foreign(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["x"] = np.zeros(3)


def _nan(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file["action"][9, 2] = np.nan


def _without_actions(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file["action"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_cut, "truncated or not a dataset file"),
        (_foreign, "has no dataset 'pixels'"),
        (_without_actions, "has no dataset 'action'"),
        (_nan, "action is not finite in 1 rows, first in row 9"),
    ],
)
def test_damaged_files(copy, tmp_path, damage, message):
    damage(copy)
    before = copy.read_bytes()
    out = tmp_path / "run"
    assert message in refused("train", "tiny/actswm", "--data", str(copy), "--out", str(out))
    assert message in refused("inspect", str(copy))
    assert copy.read_bytes() == before and not out.exists()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.vocabulary=minecraft"], "its vocabulary is 'keys14', but the model speaks 'minecraft'"),
        (["objective.horizon=60"], "no valid window of 64 steps"),
        (["training.stepz=5"], "nearest known one is 'training.steps'"),
        (["objective.hinge.alternatives=[none]"], "must be among zero, shuffled"),
    ],
)
def test_settings_that_do_not_fit(square_file, tmp_path, overrides, message):
    out = tmp_path / "run"
    assert message in refused(
        "train", "tiny/actswm", *overrides, "--data", str(square_file), "--out", str(out)
    )
    assert not out.exists(), "a corrected command must not meet leftovers"


def test_inspect_says_what_is_inside_and_draws_a_sheet(square_file, tmp_path):
    sheet = tmp_path / "sheet.png"
    result = CliRunner().invoke(app, ["inspect", str(square_file), "--sheet", str(sheet)])
    assert result.exit_code == 0, result.output
    words = " ".join(result.output.split())
    for expected in ("made/square", "1,120 frames in 8 episodes", "20 fps", "0.00% invalid", "Turn_L"):
        assert expected in words
    import cv2

    assert cv2.imread(str(sheet)).shape == (8 * 146, 8 * 132, 3)
