import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

from actswm.controls import KEYS14
from actswm.data import Column, DatasetFile, DatasetSpec, DatasetWriter, validate
from actswm.data import journal as journal_module
from actswm.data import writer as writer_module
from actswm.errors import UserError

SPEC = DatasetSpec(KEYS14, 24, 32, fps=20.0, source="made/noise", columns={"seed": Column("int64")})


def rows(rng, count):
    return {
        "pixels": rng.integers(0, 255, (count, 24, 32, 3), dtype=np.uint8),
        "action": (rng.random((count, 14)) < 0.3).astype(np.float32),
        "frame_valid": rng.random(count) < 0.9,
        "seed": np.full(count, 5),
    }


@pytest.mark.parametrize("compression", [None, "blosc-zstd", "blosc-lz4"])
def test_what_is_written_is_read(tmp_path, compression):
    rng = np.random.default_rng(0)
    path = tmp_path / "a.h5"
    spec = DatasetSpec(KEYS14, 24, 32, 20.0, "made/noise", columns=SPEC.columns, compression=compression)
    episodes = [rows(rng, n) for n in (1, 50, 17, 300)]
    with DatasetWriter(path, spec) as writer:
        for episode in episodes:
            writer.append(**episode)
        assert (writer.num_episodes, writer.num_frames) == (4, 368)
    validate(path)
    with DatasetFile(path) as file:
        for name in ("pixels", "action", "frame_valid", "seed"):
            expected = np.concatenate([episode[name] for episode in episodes])
            np.testing.assert_array_equal(file.column(name), expected)
        assert file.ep_len.tolist() == [1, 50, 17, 300] and file.ep_offset.tolist() == [0, 1, 51, 68]
        assert np.flatnonzero(file.boundary_mask).tolist() == [0, 1, 50, 51, 67, 68, 367]
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.h5"]


def test_streamed_equals_appended_and_reopening_goes_on(tmp_path):
    rng = np.random.default_rng(1)
    episode = rows(rng, 60)
    with DatasetWriter(tmp_path / "a.h5", SPEC) as writer:
        writer.append(**episode)
        writer.append(**episode)
    for _ in range(2):
        with DatasetWriter(tmp_path / "b.h5", SPEC) as writer, writer.episode() as streamed:
            for part in (slice(0, 7), slice(7, 8), slice(8, 60)):
                streamed.add(**{name: values[part] for name, values in episode.items()})
    with DatasetFile(tmp_path / "a.h5") as a, DatasetFile(tmp_path / "b.h5") as b:
        for name in ("pixels", "action", "episode_idx", "step_idx", "boundary_mask", "ep_len", "seed"):
            np.testing.assert_array_equal(a.column(name), b.column(name))


def test_an_exception_takes_the_episode_back(tmp_path):
    rng = np.random.default_rng(2)
    path = tmp_path / "a.h5"
    with DatasetWriter(path, SPEC) as writer:
        writer.append(**rows(rng, 30))
        with pytest.raises(RuntimeError), writer.episode() as episode:
            episode.add(**rows(rng, 500))
            raise RuntimeError
        assert writer.num_frames == 30
        writer.append(**rows(rng, 40))
    validate(path)
    with DatasetFile(path) as file:
        assert file.ep_len.tolist() == [30, 40]


def test_bad_rows_are_refused(tmp_path):
    rng = np.random.default_rng(3)
    good = rows(rng, 5)
    with DatasetWriter(tmp_path / "a.h5", SPEC) as writer:
        for change in (
            {"pixels": good["pixels"][:, :5]},
            {"action": good["action"] * np.nan},
            {"action": good["action"][:, :3]},
        ):
            with pytest.raises(ValueError):
                writer.append(**{**good, **change})
        with pytest.raises(ValueError, match="seed"):
            writer.append(good["pixels"], good["action"])
        assert writer.num_episodes == 0


def test_another_kind_of_file_is_not_continued(tmp_path):
    path = tmp_path / "a.h5"
    DatasetWriter(path, SPEC).close()
    other = DatasetSpec(KEYS14, 24, 32, fps=30.0, source="made/noise", columns=SPEC.columns)
    with pytest.raises(UserError, match="fps"):
        DatasetWriter(path, other)


def test_two_writers_are_one_too_many(tmp_path):
    with DatasetWriter(tmp_path / "a.h5", SPEC), pytest.raises(UserError, match="another process"):
        DatasetWriter(tmp_path / "a.h5", SPEC)


def test_readers_see_whole_episodes_while_one_is_written(tmp_path):
    rng = np.random.default_rng(4)
    path = tmp_path / "a.h5"
    with DatasetWriter(path, SPEC) as writer:
        writer.append(**rows(rng, 30))
        with writer.episode() as episode:
            episode.add(**rows(rng, 300))
            validate(path)
            with DatasetFile(path) as file:
                assert file.num_frames == 30
    validate(path)


def test_a_commit_cut_short_after_its_journal_is_completed(tmp_path, monkeypatch):
    """The moment between writing the journal and applying it, which a kill hits rarely."""
    rng = np.random.default_rng(5)
    path = tmp_path / "a.h5"
    with DatasetWriter(path, SPEC) as writer:
        writer.append(**rows(rng, 30))
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(journal_module, "_apply_journal", lambda path, fd: None)
        writer = DatasetWriter(path, SPEC)
        with writer.episode() as episode:
            episode.add(**rows(rng, 40))
        os._exit(0)
    os.waitpid(child, 0)
    assert journal_module.journal_path(path).exists()
    validate(path)
    with DatasetFile(path) as file:
        assert file.ep_len.tolist() == [30, 40]
    assert not journal_module.journal_path(path).exists()


@pytest.mark.parametrize("name", ["a.h5", ".a.h5.{pid}.tmp.h5"])
def test_a_kill_while_the_journal_is_written_leaves_nothing_that_stays(tmp_path, monkeypatch, name):
    """The file goes on without the episode, and the next writer removes the half journal."""
    rng = np.random.default_rng(6)
    path = tmp_path / name.format(pid=os.getpid())
    with DatasetWriter(path, SPEC) as writer:
        writer.append(**rows(rng, 30))
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(journal_module.os, "replace", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        DatasetWriter(path, SPEC).append(**rows(rng, 40))
        os._exit(0)
    os.waitpid(child, 0)
    assert len(list(tmp_path.iterdir())) == 2
    DatasetWriter(path, SPEC).close()
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    with DatasetFile(path) as file:
        assert file.ep_len.tolist() == [30]


@pytest.mark.parametrize("made", [{"maxshape": (30,)}, {"maxshape": (None,), "dtype": "int8"}])
def test_a_column_that_cannot_go_on_is_named(tmp_path, made):
    path = tmp_path / "a.h5"
    with DatasetWriter(path, SPEC) as writer:
        writer.append(**rows(np.random.default_rng(7), 30))
    with h5py.File(path, "r+") as file:
        values = file["seed"][:] % 100
        del file["seed"]
        file.create_dataset("seed", data=values, **made)
    before = path.read_bytes()
    with pytest.raises(UserError, match="its 'seed' is"):
        DatasetWriter(path, SPEC)
    assert path.read_bytes() == before


def test_damage_that_shows_only_in_writing_is_told(tmp_path):
    """The place of a chunk lies far outside the file, in a column that no check reads."""
    path = tmp_path / "a.h5"
    with DatasetWriter(path, SPEC) as writer:
        writer.append(**rows(np.random.default_rng(8), 30))
    with h5py.File(path) as file:
        place = file["seed"].id.get_chunk_info(0).byte_offset
    data = path.read_bytes().replace(place.to_bytes(8, "little"), (2**61 + place).to_bytes(8, "little"))
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"a\.h5: .*damaged"):
        DatasetWriter(path, SPEC).append(**rows(np.random.default_rng(9), 5))


def test_kill_leaves_exactly_the_committed_episodes(tmp_path):
    path = tmp_path / "a.h5"
    program = f"""
import numpy as np
from actswm.data import *
from actswm.controls import KEYS14
spec = DatasetSpec(KEYS14, 24, 32, 20.0, "made/noise", columns={{"seed": Column("int64")}})
with DatasetWriter({str(path)!r}, spec) as writer:
    while True:
        n = writer.num_episodes
        writer.append(np.full((137, 24, 32, 3), n % 251, np.uint8), np.zeros((137, 14)), seed=np.full(137, n))
        print(n, flush=True)
"""
    reported = 0
    for round_number in range(4):
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(10):
            reported = int(process.stdout.readline())
        time.sleep(0.013 * round_number)
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split()
        process.wait()
        reported = int(rest[-1]) if rest else reported
        validate(path)
        with DatasetFile(path) as file:
            assert file.num_episodes >= reported + 1
            ids = file.column("seed")
            np.testing.assert_array_equal(ids, file.episode_idx)
            np.testing.assert_array_equal(file.pixels[:, 5, 5, 0], ids % 251)


def test_the_file_opens_in_plain_h5py(square_file):
    with h5py.File(square_file) as file:
        assert file["pixels"].shape[1:] == (32, 32, 3)
        assert list(file.attrs["control_names"]) == list(KEYS14.names)


def test_an_interrupt_waits_for_the_episode_being_written(tmp_path, monkeypatch):
    path = tmp_path / "interrupted.h5"
    add = writer_module.EpisodeWriter.add

    def interrupted(self, *rows, **columns):
        os.kill(os.getpid(), signal.SIGINT)
        add(self, *rows, **columns)

    monkeypatch.setattr(writer_module.EpisodeWriter, "add", interrupted)
    with DatasetWriter(path, DatasetSpec(KEYS14, 8, 8, 20.0, "made")) as writer:
        with pytest.raises(KeyboardInterrupt):
            writer.append(np.zeros((20, 8, 8, 3), np.uint8), np.zeros((20, 14)))
        assert writer.num_episodes == 1  # it was written first
    validate(path)
    with pytest.raises(KeyboardInterrupt):  # and Ctrl+C works as before
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
