"""A folder of shards is the dataset that its merged file is."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import h5py
import numpy as np
import pytest
import torch

from actswm.controls import KEYS14, MINECRAFT, ActionEncoding
from actswm.data import (
    Column,
    DatasetSpec,
    DatasetWriter,
    WindowShape,
    open_checked,
    sample_windows,
    split_file,
    starts_in,
    validate,
)
from actswm.data import shard_index as index_module
from actswm.data.frames import FrameReader
from actswm.data.journal import journal_path
from actswm.data.loader import StepSampler, WindowDataset, window_loader
from actswm.data.merging import merge
from actswm.data.shard_index import INDEX
from actswm.data.summary import summarise
from actswm.dataset_paths import dataset_path, home, label
from actswm.errors import UserError

SPEC = DatasetSpec(
    KEYS14,
    8,
    12,
    20.0,
    "made/one",
    attributes={"seed": 1},
    columns={"seed": Column("int64"), "x": Column("int8")},
)
LENGTHS = ((30, 41), (25,), (60, 33, 20))


def write(path, lengths, rng, spec=SPEC, boundaries=True):
    with DatasetWriter(path, spec) as writer:
        for n in lengths:
            extra = {name: rng.integers(0, 9, (n, *column.shape)) for name, column in spec.columns.items()}
            pixels = rng.integers(0, 255, (n, spec.height, spec.width, 3), dtype=np.uint8)
            writer.append(
                pixels, rng.integers(0, 2, (n, spec.vocabulary.size)), rng.random(n) < 0.97, **extra
            )
    if boundaries:
        with h5py.File(path, "r+") as file:
            file["boundary_mask"][7] = 1
    return path


@pytest.fixture
def shards(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "shards"
    folder.mkdir()
    for number, lengths in enumerate(LENGTHS):
        write(folder / f"{number}.h5", lengths, rng, replace(SPEC, source=f"made/{number % 2}"))
    return folder


@pytest.fixture
def merged(shards, tmp_path):
    """Boundaries inside an episode are not copied by a merge: they are put in again."""
    files = sorted(shards.glob("*.h5"))
    merge(files, tmp_path / "merged.h5")
    with h5py.File(tmp_path / "merged.h5", "r+") as out:
        out["boundary_mask"][:] = np.concatenate([h5py.File(file)["boundary_mask"][:] for file in files])
    return tmp_path / "merged.h5"


def names(shards):
    """All ways to say the same dataset."""
    files = sorted(shards.glob("*.h5"))
    return [
        shards,
        f"{shards}/*.h5",
        f"{shards}/[0-9].h5",
        files,
        ",".join(map(str, files)),
        [files[0], f"{shards}/[12].h5"],
    ]


COLUMNS = (
    "action",
    "episode_idx",
    "step_idx",
    "frame_valid",
    "boundary_mask",
    "ep_len",
    "ep_offset",
    "x",
    "pixels",
)


@pytest.mark.parametrize("way", range(6))
@pytest.mark.parametrize("warm", [False, True])
def test_every_column_and_frame_is_the_merged_files(shards, merged, way, warm):
    name = names(shards)[way]
    if warm:
        open_checked(shards).close()
    with open_checked(name) as file, open_checked(merged) as one:
        for column in COLUMNS:
            found, wanted = file.column(column), one.column(column)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted, err_msg=column)
            for rows in (slice(20, 130), slice(71, 96), slice(5, 5), slice(3, 200, 7)):
                np.testing.assert_array_equal(file.column(column, rows), one.column(column, rows))
        assert (file.num_frames, file.num_episodes) == (one.num_frames, one.num_episodes)
        assert (file.source, file.attributes) == (one.source, one.attributes)
        assert file.extra_columns == one.extra_columns and file.vocabulary == one.vocabulary
        rows = np.array([0, 3, 70, 71, 95, 96, 208])
        np.testing.assert_array_equal(file.frames(rows), one.frames(rows))
        rows = np.sort(np.random.default_rng(0).integers(0, one.num_frames, 60))
        out = np.empty((60, 8, 12, 3), np.uint8)
        FrameReader.of(file).read(rows, out)
        np.testing.assert_array_equal(out, one.column("pixels")[rows])
        for one_part, other in zip(vars(split_file(file)).values(), vars(split_file(one)).values()):
            np.testing.assert_array_equal(one_part, other)
    assert replace(summarise(dataset_path(name))) == summarise(merged)


@pytest.mark.parametrize("validity", ["strict", "endpoints"])
@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_those_of_the_merged_file(shards, merged, validity, workers):
    batches = []
    for data in (shards, merged):
        with open_checked(data) as file:
            starts = starts_in(file, WindowShape(4, 2, validity), np.arange(file.num_episodes))
        windows = WindowDataset(data, ActionEncoding(KEYS14, "sliding", 2), 4, starts, image_size=8, before=2)
        batches.append(list(window_loader(windows, StepSampler(len(windows), 8, 12, seed=3), workers)))
    for one, other in zip(*batches, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    sampled = [
        sample_windows(data, 20, split="all", context=2, horizon=3, frameskip=2) for data in (shards, merged)
    ]
    np.testing.assert_array_equal(sampled[0].rows, sampled[1].rows)
    np.testing.assert_array_equal(sampled[0].partner, sampled[1].partner)


def counted(monkeypatch):
    opened = []
    real = index_module._checked
    monkeypatch.setattr(
        index_module, "_checked", lambda path, state: opened.append(path.name) or real(path, state)
    )
    return opened


def test_only_what_changed_is_checked_again(shards, monkeypatch):
    opened = counted(monkeypatch)
    validate(shards)
    validate(shards)
    assert opened == ["0.h5", "1.h5", "2.h5"]
    with open_checked(shards) as file:
        frames = file.num_frames
    rng = np.random.default_rng(5)
    write(shards / "1.h5", (9,), rng, replace(SPEC, source="made/1"), boundaries=False)
    write(shards / "3.h5", (11,), rng, SPEC)
    opened.clear()
    with open_checked(shards) as file:
        assert file.num_frames == frames + 20
        np.testing.assert_array_equal(file.ep_len, [30, 41, 25, 9, 60, 33, 20, 11])
    assert opened == ["1.h5", "3.h5"]
    (shards / "0.h5").unlink()
    opened.clear()
    with open_checked(f"{shards}/[13].h5") as file:  # a part does not drop the others' entries
        assert file.num_frames == 45
    validate(shards)
    assert opened == []


@pytest.mark.parametrize(
    "damage", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"version": 1, "specs": [], "shards": {"0.h5": 3}}']
)
def test_a_damaged_index_is_made_anew(shards, damage):
    with open_checked(shards) as file:
        whole = file.column("frame_valid")
    good = (shards / INDEX).read_bytes()
    (shards / INDEX).write_bytes(damage)
    with open_checked(shards) as file:
        np.testing.assert_array_equal(file.column("frame_valid"), whole)
    assert (shards / INDEX).read_bytes() == good


@pytest.mark.parametrize("length", [60_000_000_000, -1])
def test_an_index_of_impossible_lengths_is_made_anew(shards, length):
    with open_checked(shards):
        good = (shards / INDEX).read_bytes()
    told = json.loads(good)
    next(iter(told["shards"].values()))["ep_len"][0] = length
    (shards / INDEX).write_text(json.dumps(told))
    with open_checked(shards):
        assert (shards / INDEX).read_bytes() == good


def test_an_index_that_cannot_be_written_is_done_without(shards, monkeypatch):
    def refuse(path, content):
        raise UserError("full")

    monkeypatch.setattr(index_module, "write_whole", refuse)
    with open_checked(shards) as file:
        assert file.num_episodes == 6
    assert not (shards / INDEX).exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vocabulary": MINECRAFT}, "3.h5: its vocabulary is minecraft, but .*0.h5 has keys14"),
        ({"height": 9}, "its frame size is 12x9"),
        ({"fps": 35.0}, "its frame rate is 35"),
    ],
)
def test_shards_that_do_not_fit(shards, change, message):
    write(shards / "3.h5", (9,), np.random.default_rng(0), replace(SPEC, **change))
    with pytest.raises(UserError, match=message):
        open_checked(shards)


def test_what_is_no_dataset(shards, tmp_path):
    (tmp_path / "empty").mkdir()
    for name, message in (
        (tmp_path / "empty", "no dataset file"),
        (tmp_path / "absent", "no such dataset file"),
        (f"{shards}/*.hdf", "no file is called so"),
        ([shards, shards / "1.h5"], "twice"),
        ([tmp_path / "a,b.h5"], "comma"),
    ):
        with pytest.raises(UserError, match=message):
            open_checked(name)


def test_every_shard_is_checked(shards):
    with h5py.File(shards / "1.h5", "r+") as file:
        file["step_idx"][3] = 77
    with pytest.raises(UserError, match=r"1\.h5: step_idx does not count"):
        open_checked(shards)


def test_an_empty_shard_is_no_harm_and_nothing_else_is_nothing(shards, tmp_path):
    DatasetWriter(shards / "9.h5", SPEC).close()
    with open_checked(shards) as file:
        assert file.num_episodes == 6
    (tmp_path / "new").mkdir()
    DatasetWriter(tmp_path / "new" / "0.h5", SPEC).close()
    with pytest.raises(UserError, match="no episode yet"):
        open_checked(tmp_path / "new")
    with open_checked(tmp_path / "new", may_be_empty=True) as file:
        assert file.num_frames == 0 and file.attributes == {"seed": 1}


def test_shards_of_one_recording_keep_its_seeds(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "run").mkdir()
    for number in range(2):
        write(tmp_path / "run" / f"{number}.h5", (9, 12), rng)
    with open_checked(tmp_path / "run") as file:
        assert file.extra_columns == ("seed", "x") and file.attributes == {"seed": 1}


def test_a_shard_replaced_under_a_reader_is_noticed(shards):
    with open_checked(shards) as file:
        reader = FrameReader.of(file)
        (shards / "2.h5").unlink()
        write(shards / "2.h5", (9,), np.random.default_rng(0))
        with pytest.raises(UserError, match=r"2\.h5: was replaced"):
            file.frames(np.array([100]))
        with pytest.raises(UserError, match=r"2\.h5: was replaced"):
            reader.read(np.array([100]), np.empty((1, 8, 12, 3), np.uint8))


KILLED = """
import os, sys
import numpy as np
from pathlib import Path
from actswm.data import journal
from tests.data.test_sharded import SPEC, write
real = journal._apply_journal
def die(path, fd):
    if journal.journal_path(path).exists():
        os.kill(os.getpid(), 9)
    real(path, fd)
journal._apply_journal = die
write(Path(sys.argv[1]), (9,), np.random.default_rng(0), boundaries=False)
"""


def test_a_commit_cut_short_in_a_shard_is_completed(shards):
    validate(shards)
    write(shards / "3.h5", (5,), np.random.default_rng(0), boundaries=False)
    validate(shards)
    died = subprocess.run([sys.executable, "-c", KILLED, shards / "3.h5"], cwd=os.getcwd())
    assert died.returncode == -9 and journal_path(shards / "3.h5").exists()
    with open_checked(shards) as file:
        assert file.ep_len.tolist()[-2:] == [5, 9]
    assert not journal_path(shards / "3.h5").exists()


def test_names_of_datasets(shards, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert label(shards) == "shards" and home(shards) == shards
    assert label(dataset_path([shards / "0.h5", shards / "1.h5"])) == "0.h5,1.h5"
    assert label(dataset_path("shards/*.h5")) == "*.h5" and home(dataset_path("shards/*.h5")) == shards
