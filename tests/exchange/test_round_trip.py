"""Our datasets in other forms, opened by the others' own readers, and back."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from actswm.controls import Control, Vocabulary
from actswm.data import Column, DatasetFile, DatasetSpec, DatasetWriter, validate
from actswm.exchange import lerobot_layout
from actswm.exchange.importing import import_dataset
from actswm.exchange.lerobot_export import export_lerobot
from actswm.exchange.lerobot_import import LeRobotFolder

from ..cli.test_plan import actswm

OWN = Vocabulary("rover", (Control("forward"), Control("steer", binary=False)))
COLUMNS = {
    "seed": Column("int64"),
    "pose": Column("float32", (5,)),
    "grid": Column("uint8", (2, 3)),
    "place.name": Column("S6"),
}
SPEC = DatasetSpec(
    OWN, 24, 33, 17.33, "made/rover", attributes={"seed": 3, "behaviour": "explorer"}, columns=COLUMNS
)
LENGTHS = (300, 1, 33)
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Waves that wander, in three episodes."""
    path = tmp_path_factory.mktemp("made") / "made.h5"
    rng = np.random.default_rng(0)
    y, x = np.mgrid[: SPEC.height, : SPEC.width]
    with DatasetWriter(path, SPEC) as writer:
        for number, length in enumerate(LENGTHS):
            t = np.arange(length)[:, None, None, None]
            phase = np.array([0.3, 0.2, 0.1]) * t + (x / 5 + y / 7)[..., None] + number
            pixels = (127 + 100 * np.sin(phase)).astype(np.uint8)
            action = np.stack([rng.integers(0, 2, length), rng.normal(size=length)], 1)
            writer.append(
                pixels,
                action,
                rng.random(length) < 0.8,
                seed=np.full(length, 2**60 + number),
                pose=rng.normal(size=(length, 5)),
                grid=rng.integers(0, 255, (length, 2, 3)),
                **{"place.name": np.full(length, f"yard{number}", "S6")},
            )
    return path


@pytest.fixture(scope="module")
def exported(made, tmp_path_factory):
    """Paths of both forms."""
    folder = tmp_path_factory.mktemp("exported")
    for name in ("lerobot", "lance"):
        command = [
            sys.executable,
            "-m",
            "actswm",
            "export",
            made,
            "--format",
            name,
            "--out",
            folder / f"made.{name}",
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.stdout.endswith("made." + name + ": 334 frames in 3 episodes\n"), done.stderr
    return {"lerobot": folder / "made.lerobot", "lance": folder / "made.lance"}


def by_peer(script, *arguments):
    """What another party's reader says, from a process of its own."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", f"tests.exchange.{script}", *map(str, arguments)]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def needs(package):
    if find_spec(package) is None:
        if os.environ.get("ACTSWM_REQUIRE_BENCH"):
            pytest.fail(f"{package} is not installed")
        pytest.skip(f"needs {package}: make bench")


def assert_near(frames, expected):
    """Within a good codec's error, and too near for another frame: neighbours differ by 25."""
    error = np.abs(frames.astype(float) - expected)
    assert error.mean() < 2 and error.max() < 30


@pytest.mark.parametrize("form", ["lerobot", "lance"])
def test_there_and_back(form, made, exported, tmp_path, monkeypatch, capsys):
    back = tmp_path / "back.h5"
    code, out, err = actswm(monkeypatch, capsys, "import", form, exported[form], "--out", back)
    assert not code and out.endswith("back.h5: 334 frames in 3 episodes\n"), err
    validate(back)
    with DatasetFile(made) as file, DatasetFile(back) as again:
        for name in ("fps", "source", "vocabulary", "action_origin", "attributes", "columns"):
            assert getattr(again, name) == getattr(file, name), name
        for name in ("action", "frame_valid", "ep_len", "ep_offset", "boundary_mask", *COLUMNS):
            np.testing.assert_array_equal(again.column(name), file.column(name), err_msg=name)
        assert_near(again.pixels[:], file.pixels[:])
    for command in (
        ("import", form, exported[form], "--out", back),
        ("export", made, "--format", form, "--out", exported[form]),
    ):
        code, _, err = actswm(monkeypatch, capsys, *command)
        assert code == 2 and "is there already" in err


def test_lerobot_s_own_reader_opens_it(made, exported, tmp_path):
    needs("lerobot")
    by_peer("lerobot_reader", exported["lerobot"], tmp_path / "told.npz")
    told = np.load(tmp_path / "told.npz")
    with DatasetFile(made) as file:
        assert_near(np.moveaxis(told["frames"], 1, 3) * 255, file.pixels[:])
        np.testing.assert_array_equal(told["action"], file.action)
        np.testing.assert_array_equal(told["frame_valid"], file.frame_valid)
        np.testing.assert_array_equal(told["seed"], file.column("seed"))
        np.testing.assert_array_equal(told["pose"], file.column("pose"))
        np.testing.assert_array_equal(told["episode_index"], file.episode_idx)
        np.testing.assert_array_equal(told["frame_index"], file.step_idx)
        np.testing.assert_allclose(told["timestamp"], file.step_idx / 17.33, rtol=1e-6)
        np.testing.assert_allclose(told["action_mean"], file.action.mean(0), rtol=1e-5)
    assert told["begins"].tolist() == [0, 300, 301] and told["ends"].tolist() == [300, 301, 334]
    assert told["names"].tolist() == ["forward", "steer"] and set(told["task"]) == {"made/rover"}
    assert told["fps"] == 17.33


def test_large_files_are_followed_by_others(made, tmp_path, monkeypatch):
    monkeypatch.setattr(lerobot_layout, "DATA_MB", 0)
    with DatasetFile(made) as file:
        export_lerobot(file, tmp_path / "many")
        assert (
            len(list(tmp_path.glob("many/videos/*/*/*.mp4")))
            == len(list(tmp_path.glob("many/data/*/*")))
            == 3
        )
        assert import_dataset(LeRobotFolder(tmp_path / "many"), tmp_path / "back.h5", None) == (3, 334)
        with DatasetFile(tmp_path / "back.h5") as again:
            assert_near(again.pixels[:], file.pixels[:])
            np.testing.assert_array_equal(again.action, file.action)


def test_stable_worldmodel_s_own_reader_opens_it(made, exported, tmp_path):
    needs("stable_worldmodel")
    by_peer("lance_peer", "read", exported["lance"], tmp_path / "told.npz")
    told = np.load(tmp_path / "told.npz")
    with DatasetFile(made) as file:
        assert told["lengths"].tolist() == list(LENGTHS) and told["offsets"].tolist() == [0, 300, 301]
        assert_near(np.moveaxis(told["pixels"], 1, 3), file.pixels[:])
        np.testing.assert_array_equal(told["action"], file.action)
        np.testing.assert_array_equal(told["pose"], file.column("pose"))
        np.testing.assert_array_equal(told["seed"].ravel(), file.column("seed"))


def test_what_stable_worldmodel_writes_is_imported(made, tmp_path, monkeypatch, capsys):
    needs("stable_worldmodel")
    with DatasetFile(made) as file:
        pixels, action, pose = file.pixels[:8], file.action[:8].copy(), file.column("pose")[:8]
    action[[4, 7]] = np.nan
    np.savez(tmp_path / "in.npz", pixels=pixels, action=action, pose=pose)
    by_peer("lance_peer", "write", tmp_path / "theirs.lance", tmp_path / "in.npz")
    command = ("import", "lance", tmp_path / "theirs.lance", "--out", tmp_path / "ours.h5")
    code, _, err = actswm(monkeypatch, capsys, *command)
    assert code == 2 and "add --fps" in err
    code, _, err = actswm(monkeypatch, capsys, *command, "--fps", "10", "--vocabulary", "cart(push,turn~)")
    assert not code, err
    validate(tmp_path / "ours.h5")
    with DatasetFile(tmp_path / "ours.h5") as file:
        assert (
            file.ep_len.tolist() == [5, 3]
            and file.fps == 10
            and file.vocabulary.spelling == "cart(push,turn~)"
        )
        assert_near(file.pixels[:], pixels)
        np.testing.assert_array_equal(file.action, np.nan_to_num(action))
        np.testing.assert_array_equal(file.frame_valid, ~np.isnan(action[:, 0]))
        np.testing.assert_array_equal(file.column("pose"), pose)


@pytest.fixture
def foreign(exported, tmp_path):
    """As somebody else would have written it: nothing in it is of ours."""
    folder = tmp_path / "theirs"
    shutil.copytree(exported["lerobot"], folder)
    (folder / "meta" / "actswm.json").unlink()
    info = json.loads((folder / "meta" / "info.json").read_text())
    del info["features"]["frame_valid"]
    info["features"]["action"]["names"] = {"motors": ["forward", "steer"]}
    (folder / "meta" / "info.json").write_text(json.dumps(info))
    return folder


def change_info(folder, change):
    path = folder / "meta" / "info.json"
    info = json.loads(path.read_text())
    change(info)
    path.write_text(json.dumps(info))


def test_a_lerobot_dataset_of_somebody_else(foreign, made, tmp_path, monkeypatch, capsys):
    command = ("import", "lerobot", foreign, "--size", "16", "--out", tmp_path / "theirs.h5")
    code, _, err = actswm(monkeypatch, capsys, *command)
    assert not code, err
    with DatasetFile(tmp_path / "theirs.h5") as file, DatasetFile(made) as expected:
        assert file.vocabulary.spelling == "lerobot(forward~,steer~)" and file.source == "lerobot/theirs"
        assert file.frame_valid.all() and file.pixels.shape == (334, 16, 16, 3) and file.fps == 17.33
        np.testing.assert_array_equal(file.action, expected.action)
        assert {"seed", "pose", "grid"} <= set(file.extra_columns)
    command = (*command[:-1], tmp_path / "keys.h5", "--vocabulary", "rover(forward,steer)")
    code, _, err = actswm(monkeypatch, capsys, *command)
    assert code == 2 and "steer ranges from" in err and not (tmp_path / "keys.h5").exists()


def test_pictures_in_the_rows(foreign, made, tmp_path, monkeypatch, capsys):
    """Datasets without videos keep each picture as a file in its row."""
    import cv2

    path = foreign / "data" / "chunk-000" / "file-000.parquet"
    table = pq.read_table(path)
    with DatasetFile(made) as file:
        pixels = file.pixels[:]
    pictures = [
        {"bytes": cv2.imencode(".png", frame[..., ::-1])[1].tobytes(), "path": None} for frame in pixels
    ]
    pq.write_table(table.append_column("observation.image", pa.array(pictures)), path)
    change_info(
        foreign,
        lambda info: info["features"].update({"observation.image": {"dtype": "image", "shape": [24, 33, 3]}}),
    )
    command = ("import", "lerobot", foreign, "--out", tmp_path / "theirs.h5")
    code, _, err = actswm(monkeypatch, capsys, *command)
    assert code == 2 and "--camera observation.images.game or observation.image" in err
    code, _, err = actswm(monkeypatch, capsys, *command, "--camera", "observation.image")
    assert not code, err
    with DatasetFile(tmp_path / "theirs.h5") as file:
        np.testing.assert_array_equal(file.pixels[:], pixels)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda folder: change_info(folder, lambda info: info.update(codebase_version="v2.1")),
            "is of version v2.1, not v3",
        ),
        (
            lambda folder: change_info(folder, lambda info: info.update(fps="fast")),
            "info.json: does not describe a dataset",
        ),
        (lambda folder: next(folder.glob("videos/*/*/*.mp4")).unlink(), "file-000.mp4: is missing"),
        (lambda folder: cut(next(folder.glob("videos/*/*/*.mp4"))), "file-000.mp4"),
        (lambda folder: cut(next(folder.glob("data/*/*.parquet"))), "file-000.parquet: cannot be read"),
        (lambda folder: shutil.rmtree(folder / "meta" / "episodes"), "no files in meta/episodes"),
        (lambda folder: shutil.rmtree(folder / "meta"), "no LeRobotDataset"),
    ],
)
def test_damaged_folders_are_told_in_one_line(foreign, tmp_path, monkeypatch, capsys, damage, message):
    damage(foreign)
    code, _, err = actswm(monkeypatch, capsys, "import", "lerobot", foreign, "--out", tmp_path / "out.h5")
    assert code == 2 and message in err and err.strip().count("\n") == 0
    assert not list(tmp_path.glob("*out.h5*"))


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_damaged_tables_are_told_in_one_line(exported, tmp_path, monkeypatch, capsys):
    table = tmp_path / "cut.lance"
    shutil.copytree(exported["lance"], table)
    for file in table.glob("data/*"):
        cut(file)
    for path, message in (
        (table, "cannot be read as a Lance table"),
        (tmp_path / "none.lance", "no such Lance table"),
    ):
        code, _, err = actswm(monkeypatch, capsys, "import", "lance", path, "--out", tmp_path / "out.h5")
        assert code == 2 and message in err
    assert not list(tmp_path.glob("*out.h5*"))
