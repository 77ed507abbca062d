from dataclasses import replace

import numpy as np
import pytest

from actswm.controls import KEYS14, MINECRAFT
from actswm.data import Column, DatasetFile, DatasetSpec, DatasetWriter, open_checked, validate
from actswm.data.frames import FrameReader
from actswm.data.merging import merge
from actswm.errors import UserError

COLUMNS = {"seed": Column("int64"), "pose": Column("float32", (5,))}
SPEC = DatasetSpec(KEYS14, 8, 12, 20.0, "made/one", attributes={"seed": 1}, columns=COLUMNS)


def write(path, spec, lengths, rng):
    with DatasetWriter(path, spec) as writer:
        for n in lengths:
            extra = {name: rng.integers(0, 9, (n, *column.shape)) for name, column in spec.columns.items()}
            pixels = rng.integers(0, 255, (n, spec.height, spec.width, 3), dtype=np.uint8)
            action = rng.integers(0, 2, (n, spec.vocabulary.size)).astype(np.float32)
            writer.append(pixels, action, rng.random(n) < 0.8, **extra)
    return path


def test_all_episodes_in_order(tmp_path):
    rng = np.random.default_rng(0)
    other = replace(SPEC, source="made/other", attributes={}, columns={**COLUMNS, "more": Column("int8")})
    one = write(tmp_path / "one.h5", SPEC, (300, 1), rng)
    two = write(tmp_path / "two.h5", other, (5, 700), rng)
    told = []
    assert merge([one, two, one], tmp_path / "all.h5", told.append) == (6, 1307)
    validate(tmp_path / "all.h5")
    with DatasetFile(one) as a, DatasetFile(two) as b, DatasetFile(tmp_path / "all.h5") as file:
        assert file.ep_len.tolist() == [300, 1, 5, 700, 300, 1] and told == [300, 301, 306, 1006, 1306, 1307]
        assert file.source == "made/one + made/other" and file.extra_columns == ("pose",)
        assert file.attributes["merged"][0] == {
            "source": "made/one",
            "episodes": 2,
            "attributes": {"seed": 1},
        }
        for name in ("pixels", "action", "frame_valid", "step_idx", "boundary_mask", "pose"):
            expected = np.concatenate([each.column(name) for each in (a, b, a)])
            np.testing.assert_array_equal(file.column(name), expected)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.h5", "one.h5", "two.h5"]


def test_files_that_say_much_about_themselves(tmp_path):
    """An HDF5 attribute has its limits."""
    long = replace(SPEC, attributes={"recordings": ["x" * 100] * 200})
    files = [write(tmp_path / f"{name}.h5", long, (3,), np.random.default_rng(0)) for name in "abcd"]
    merge(files, tmp_path / "all.h5")
    with DatasetFile(tmp_path / "all.h5") as file:
        assert file.attributes == {"merged": 4}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vocabulary": MINECRAFT}, "its vocabulary is minecraft, but .* has keys14"),
        ({"height": 9}, "its frame size is 12x9"),
        ({"fps": 35.0}, "its frame rate is 35"),
        ({"action_origin": "recovered by x"}, "its origin of actions is recovered by x"),
    ],
)
def test_files_that_do_not_fit(tmp_path, change, message):
    rng = np.random.default_rng(0)
    one = write(tmp_path / "one.h5", SPEC, (3,), rng)
    two = write(tmp_path / "two.h5", replace(SPEC, **change), (3,), rng)
    with pytest.raises(UserError, match=message):
        merge([one, two], tmp_path / "all.h5")
    with pytest.raises(UserError, match="is there already"):
        merge([one], two)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.h5", "two.h5"]


def test_a_folder_of_packed_shards_holds_what_one_file_does(tmp_path):
    """Shards are about as large as asked for, and a fork's siblings stay with the episode that they leave."""
    rng = np.random.default_rng(0)
    spec = replace(SPEC, columns={"repeats": Column("int64")})
    one = tmp_path / "one.h5"
    with DatasetWriter(one, spec) as writer:
        for number in range(12):
            pixels = np.repeat(rng.integers(0, 255, (40, 1, 12, 3), dtype=np.uint8), 8, 1)
            repeats = np.where(np.arange(40) < 4, 40, 0) if number % 3 == 1 else np.zeros(40, np.int64)
            writer.append(pixels, rng.integers(0, 2, (40, 14)).astype(np.float32), repeats=repeats)
    merge([one], tmp_path / "shards", compression="blosc-zstd", shard_bytes=1)
    merge([one], tmp_path / "whole.h5", compression="blosc-zstd")
    shards = sorted((tmp_path / "shards").glob("*.h5"))
    with open_checked(one) as a, open_checked(tmp_path / "shards") as b, open_checked(tmp_path / "whole.h5") as c:
        assert [part.frames for part in b.parts] == [80, 40] * 4 and len(shards) == 8
        for name in ("pixels", "action", "episode_idx", "repeats"):
            np.testing.assert_array_equal(a.column(name), b.column(name))
            np.testing.assert_array_equal(a.column(name), c.column(name))
        rows = np.array([0, 0, 7, 79, 80, 300])
        frames = np.empty((len(rows), 8, 12, 3), np.uint8)
        FrameReader.of(b).read(rows, frames)
        np.testing.assert_array_equal(frames, a.frames(slice(None))[rows])
        assert c.pixels.id.get_storage_size() < a.pixels.id.get_storage_size()
    with pytest.raises(UserError, match="is there already"):
        merge([one], tmp_path / "shards", shard_bytes=1)


def test_shards_that_are_not_complete_do_not_appear(tmp_path):
    one = write(tmp_path / "one.h5", SPEC, (40, 40), np.random.default_rng(0))

    def stop(frames):
        if frames == 80:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        merge([one], tmp_path / "shards", stop, shard_bytes=1)
    assert [path.name for path in tmp_path.iterdir()] == ["one.h5"]


def test_packed_frames_that_are_damaged_are_told_in_one_line_or_wrong_but_never_a_crash(tmp_path):
    rng = np.random.default_rng(0)
    one = tmp_path / "one.h5"
    with DatasetWriter(one, replace(SPEC, columns={}, compression="blosc-zstd")) as writer:
        writer.append(np.repeat(rng.integers(0, 255, (40, 1, 12, 3), dtype=np.uint8), 8, 1), np.zeros((40, 14)))
    with DatasetFile(one) as file:
        chunk = file.pixels.id.get_chunk_info(7)
    sound = one.read_bytes()
    refused = 0
    for _ in range(200):
        packed = bytearray(sound)
        for place in rng.integers(chunk.byte_offset, chunk.byte_offset + chunk.size, rng.integers(1, 9)):
            packed[place] = rng.integers(256)
        one.write_bytes(packed)
        frame = np.empty((1, 8, 12, 3), np.uint8)
        try:
            FrameReader.of(one).read(np.array([7]), frame)
        except UserError as error:
            assert "'pixels' cannot be read" in str(error) and "damaged" in str(error)
            refused += 1
    assert refused > 20
