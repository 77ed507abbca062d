"""Files from elsewhere: each is refused in one line, by every way in, before anything large is read."""

from __future__ import annotations

import ast
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from actswm.data import DatasetFile, open_checked, validate
from actswm.data.contact_sheet import write_contact_sheet
from actswm.data.merging import merge
from actswm.data.summary import summarise
from actswm.errors import UserError

SOURCE = Path(__file__).parents[2] / "src" / "actswm"
MILLIARDS = 10**10


@pytest.fixture
def copy(square_file: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(square_file, tmp_path / "copy.h5"))


def put(name: str, rows: slice | int | tuple[int, int], value: float) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        file[name][rows] = value

    return change


def anew(name: str, **made: object) -> Callable[[h5py.File], None]:
    """In place of a column another one."""

    def change(file: h5py.File) -> None:
        if name in file:
            del file[name]
        file.create_dataset(name, **made)

    return change


def link(name: str, target: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        if name in file:
            del file[name]
        file[name] = target

    return change


def attribute(name: str, value: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        file.attrs[name] = value

    return change


def empty(name: str) -> Callable[[h5py.File], None]:
    return link(name, h5py.Empty("f4"))


def crowded(file: h5py.File) -> None:
    """2,000 episodes of a row each, which agree with each other."""
    anew("ep_len", data=np.ones(2000, "i4"))(file)
    anew("ep_offset", data=np.arange(2000))(file)


def sparse(file: h5py.File) -> None:
    """200 million rows, none of them written."""
    for name in (
        "pixels",
        "action",
        "episode_idx",
        "step_idx",
        "frame_valid",
        "boundary_mask",
        "seed",
        "ep_len",
        "ep_offset",
    ):
        file[name].resize(200_000_000, axis=0)


INVALID = {
    "offset": (put("ep_offset", 1, 0), "do not tile"),
    "episodes": (put("episode_idx", slice(80), 1), "episode_idx does not follow"),
    "huge action": (put("action", (5, 3), 1e30), "range from 0 to 1e\\+30"),
    "negative": (put("action", (5, 3), -1), "range from -1"),
    "long episode": (put("ep_len", 0, 1_000_000), "do not tile"),
    "negative episode": (put("ep_len", 0, -5), "do not tile"),
    "wide actions": (anew("action", shape=(MILLIARDS, 14), dtype="f4", chunks=(1024, 14)), "has 10000000000"),
    "many episodes": (anew("ep_len", shape=(10**6,), dtype="i4", chunks=(1024,)), "1000000"),
    "more episodes than rows": (crowded, "names 2000 episodes, but there are only 1120 rows"),
    "sparse": (sparse, "never written"),
    "huge frames": (
        anew("pixels", shape=(1120, 10**5, 10**5, 3), dtype="u1", chunks=(1, 64, 64, 3)),
        "no frames",
    ),
    "huge entries": (anew("note", shape=(1120, MILLIARDS), dtype="u1", chunks=(1, 1024)), "bytes a row"),
    "scalar": (anew("action", data=3.0), "no plain array"),
    "null": (empty("action"), "no plain array"),
    "compound": (anew("action", shape=(1120,), dtype=[("a", "f4"), ("b", "i4")]), "no plain array"),
    "text": (anew("step_idx", data=["x"] * 1120), "no plain array"),
    "short text": (anew("step_idx", data=np.array([b"x"] * 1120)), "not whole numbers"),
    "floats": (anew("ep_len", data=np.full(8, 140.0)), "not whole numbers"),
    "group": (lambda file: file.create_group("more"), "a group, not an array"),
    "link to itself": (link("action", h5py.SoftLink("/action")), "action"),
    "extra link to itself": (link("loop", h5py.SoftLink("/loop")), "link to elsewhere"),
    "link outside": (link("action", h5py.ExternalLink("other.h5", "/action")), "action"),
    "null extra": (empty("pose"), "no plain array"),
    "fps 0": (attribute("fps", 0.0), "fps is 0"),
    "fps nan": (attribute("fps", np.nan), "fps is nan"),
    "fps text": (attribute("fps", "fast"), "'fps' is no number"),
    "fps list": (attribute("fps", [20.0, 30.0]), "'fps' is no number"),
    "version": (attribute("format_version", "one"), "'format_version' is no number"),
    "old version": (attribute("format_version", -1), "unknown"),
    "names": (attribute("control_names", 5), "no list of names"),
    "vocabulary": (attribute("vocabulary", 7), "not text"),
    "source": (attribute("source", h5py.Empty("S1")), "not text"),
    "bytes for text": (attribute("source", b"\xff\xfe"), "not text in UTF-8"),
    "attributes": (attribute("attributes", "[1]"), "no JSON object"),
    "broken attributes": (attribute("attributes", "{"), "no JSON object"),
    "deep attributes": (attribute("attributes", "[" * 60_000), "no JSON object"),
}
WAYS_IN = {
    "inspect": lambda path, folder: (validate(path), summarise(path)),
    "merge": lambda path, folder: merge([path], folder / "merged.h5"),
    "sheet": lambda path, folder: write_contact_sheet(path, folder / "sheet.png"),
}


@pytest.mark.parametrize("way", WAYS_IN)
@pytest.mark.parametrize("fault", INVALID)
def test_an_invalid_file_is_refused_by_every_way_in(copy: Path, fault: str, way: str):
    change, message = INVALID[fault]
    with h5py.File(copy, "r+") as file:
        change(file)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UserError, match=message) as caught:
        WAYS_IN[way](copy, copy.parent)
    assert str(copy) in str(caught.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # KB
    assert [path.name for path in copy.parent.iterdir()] == ["copy.h5"]


def test_a_damaged_column_is_named(copy: Path):
    with h5py.File(copy, "r+") as file:
        squeezed = file["action"][:]
        del file["action"]
        action = file.create_dataset("action", data=squeezed, compression="gzip", chunks=(64, 14))
        place = action.id.get_chunk_info(0)
    with copy.open("r+b") as raw:
        raw.seek(place.byte_offset)
        raw.write(b"\xff" * place.size)
    with pytest.raises(UserError, match=r"'action' cannot be read .*damaged"):
        validate(copy)


def test_a_file_that_changes_is_checked_again(copy: Path):
    open_checked(copy).close()
    with h5py.File(copy, "r+") as file:
        file["ep_offset"][1] = 0
    with pytest.raises(UserError, match="do not tile"):
        open_checked(copy)


def test_only_the_data_room_opens_a_file_unchecked():
    for path in SOURCE.rglob("*.py"):
        if "data" not in path.relative_to(SOURCE).parts:
            calls = [
                node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
            ]
            assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "DatasetFile"], (
                path
            )


FULL = """
import resource, sys
import numpy as np
from actswm.controls import KEYS14
from actswm.data import DatasetSpec, DatasetWriter
from actswm.errors import UserError
from pathlib import Path
path = Path(sys.argv[1])
rng = np.random.default_rng(0)
writer = DatasetWriter(path, DatasetSpec(KEYS14, 24, 32, 20.0, "made/noise"))
def episode(n):
    writer.append(rng.integers(0, 255, (n, 24, 32, 3), dtype=np.uint8), np.zeros((n, 14)))
episode(100)
limit = path.stat().st_size + int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
try:
    for n in (300, 40, 5):
        try:
            episode(n)
        except UserError as error:
            assert "cannot be written" in str(error) and str(path) in str(error), error
        else:
            print(n)
finally:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
episode(7)  # there is room again
writer.close()
"""


@pytest.mark.parametrize("room", [0, 1, 4096, 50_000, 150_000, 400_000])
def test_a_full_disk_is_one_line_and_what_was_committed_stays(tmp_path: Path, room: int):
    path = tmp_path / "full.h5"
    run = subprocess.run([sys.executable, "-c", FULL, path, str(room)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    kept = [int(word) for word in run.stdout.split()]
    assert 300 not in kept
    validate(path)
    with DatasetFile(path) as file:
        assert file.ep_len.tolist() == [100, *kept, 7]
    assert [entry.name for entry in tmp_path.iterdir()] == ["full.h5"]


def test_an_output_that_cannot_be_written_is_one_line(square_file: Path, tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    for action in (
        lambda: merge([square_file], tmp_path / "file" / "out.h5"),
        lambda: write_contact_sheet(square_file, tmp_path / "file" / "sheet.png"),
    ):
        with pytest.raises(UserError, match="cannot be written"):
            action()


def test_merge_removes_what_killed_merges_left(square_file: Path, tmp_path: Path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for name in (f".out.h5.{gone.pid}.tmp.h5", f".out.h5.{gone.pid}.tmp.h5.journal", ".out.h5.1.tmp.h5"):
        (tmp_path / name).write_bytes(b"half")
    merge([square_file], tmp_path / "out.h5")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.h5.1.tmp.h5", "out.h5"]
