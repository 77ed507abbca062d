import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from actswm.data import DatasetFile, validate
from actswm.errors import UserError


@pytest.fixture
def copy(square_file, tmp_path):
    return shutil.copy(square_file, tmp_path / "copy.h5")


def _set(name, row, value):
    def change(file):
        file[name][row] = value

    return change


def _delete(name):
    def change(file):
        del file[name]

    return change


def _no_attribute(file):
    del file.attrs["control_names"]


def _newer(file):
    file.attrs["format_version"] = 99


def _other_controls(file):
    file.attrs["control_names"] = ["W", "A"]


def _shorter(file):
    file["action"].resize(10, axis=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_delete("action"), "no dataset 'action'"),
        (_no_attribute, "no attribute 'control_names'"),
        (_newer, "newer"),
        (_other_controls, "has the controls W, A, S"),
        (_shorter, "action has 10 rows"),
        (_set("action", 7, np.nan), "not finite in 1 rows, first in row 7"),
        (_set("action", 7, 3.0), "range from 0 to 3"),
        (_set("ep_len", 1, 3), "do not tile"),
        (_set("episode_idx", 5, 2), "episode_idx does not follow"),
        (_set("step_idx", 5, 2), "step_idx does not count"),
        (_set("boundary_mask", 0, 0), "boundary_mask is not set"),
    ],
)
def test_each_broken_promise_is_named(copy, change, message):
    validate(copy)
    with h5py.File(copy, "r+") as file:
        change(file)
    with pytest.raises(UserError, match=message):
        validate(copy)


def test_truncated_foreign_and_missing_files(copy, tmp_path):
    content = Path(copy).read_bytes()
    (tmp_path / "cut.h5").write_bytes(content[: len(content) // 2])
    (tmp_path / "text.h5").write_text("hello")
    (tmp_path / "empty.h5").write_bytes(b"")
    for name in ("cut.h5", "text.h5", "empty.h5"):
        with pytest.raises(UserError, match="truncated or not a dataset file"):
            DatasetFile(tmp_path / name)
    with pytest.raises(UserError, match="no such dataset file"):
        DatasetFile(tmp_path / "absent.h5")
