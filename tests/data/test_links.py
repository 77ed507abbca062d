"""Columns that point to rows further up are believed only where they do."""

import h5py
import numpy as np
import pytest

from actswm.controls import KEYS14
from actswm.data import Column, DatasetFile, DatasetSpec, DatasetWriter
from actswm.data.links import links
from actswm.data.siblings import split_file
from actswm.errors import UserError


@pytest.fixture
def path(tmp_path):
    spec = DatasetSpec(KEYS14, 8, 8, fps=20.0, source="made", columns={"repeats": Column("int64")})
    with DatasetWriter(tmp_path / "made.h5", spec) as writer:
        for _ in range(2):
            writer.append(np.zeros((6, 8, 8, 3), np.uint8), np.zeros((6, 14), np.float32), repeats=np.zeros(6, int))
    return tmp_path / "made.h5"


def rewritten(path, values):
    with h5py.File(path, "r+") as file:
        del file["repeats"]
        file["repeats"] = values
    return DatasetFile(path)


def test_whole_numbers_of_any_kind_are_links(path):
    with rewritten(path, np.minimum(np.arange(12), 6).astype(np.uint64)) as file:
        assert links(file, "repeats").dtype == np.int64 and links(file, "repeats").max() == 6
        assert split_file(file).train.dtype.kind == "i"
        assert not links(file, "twin").any()


@pytest.mark.parametrize("values", [np.full(12, 1), np.full(12, -1), np.full(12, 2**63, np.uint64), np.zeros((12, 2))])
def test_what_points_nowhere_is_refused(path, values):
    with rewritten(path, values) as file, pytest.raises(UserError, match="'repeats' does not hold"):
        links(file, "repeats")
