from dataclasses import replace

import numpy as np
import pytest

from actswm.controls import KEYS14, MINECRAFT
from actswm.data import Column, DatasetFile, DatasetSpec, DatasetWriter, validate
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
