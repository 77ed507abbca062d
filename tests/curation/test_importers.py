"""VPT and MineStudio into dataset files. The VPT files are made, one for each quirk of the published data."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from actswm.controls import MINECRAFT
from actswm.curation.domains import domain_of
from actswm.curation.report import RunReport
from actswm.curation.run import RunOptions, clean
from actswm.curation.settings import CleanSettings
from actswm.curation.sources import find_items
from actswm.data import DatasetFile, validate
from actswm.errors import UserError
from actswm.formats.minestudio import MineStudioFolder
from actswm.formats.safe_pickle import load_plain
from actswm.formats.vpt import read_vpt

from ..made.recordings import moving_frames, write_video

SETTINGS = CleanSettings(domain_of("minecraft"), MINECRAFT, height=48, width=48, judge="none")


def run(kind: str, path: Path, out: Path) -> RunReport:
    return clean(find_items(kind, [path]), out, SETTINGS, RunOptions())


def step(**changes: Any) -> dict[str, Any]:
    mouse = {"x": 640.0, "y": 360.0, "dx": 0.0, "dy": 0.0, "scaledX": 0.0, "scaledY": 0.0, "dwheel": 0.0}
    mouse |= {"buttons": [], "newButtons": []} | changes.pop("mouse", {})
    keyboard = {"keys": changes.pop("keys", []), "newKeys": [], "chars": ""}
    line = {"mouse": mouse, "keyboard": keyboard, "hotbar": 0, "tick": 0, "isGuiOpen": False, "inventory": []}
    return line | changes


def write_vpt(folder: Path, steps: list[Any], frames: int | None = None, name: str = "clip") -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("".join((s if isinstance(s, str) else json.dumps(s)) + "\n" for s in steps))
    write_video(folder / f"{name}.mp4", [50 * index for index in range(frames or len(steps))])
    return path


def column(action: np.ndarray, name: str) -> list[float]:
    return action[:, MINECRAFT.index(name)].tolist()


def test_keys_and_a_camera_in_fractions_of_a_degree(tmp_path) -> None:
    keys = ["key.keyboard.w", "key.keyboard.left.control", "key.keyboard.3", "key.keyboard.f3"]
    path = write_vpt(tmp_path, [step(keys=keys, mouse={"dx": 1.0, "dy": -2.5}), step(mouse={"buttons": [1]})])
    action = read_vpt(path).action
    assert MINECRAFT.pressed(action[0]) == ("forward", "sprint", "hotbar.3", "pitch", "yaw")
    np.testing.assert_allclose([column(action, "pitch")[0], column(action, "yaw")[0]], [-0.375, 0.15])
    assert MINECRAFT.pressed(action[1]) == ("use",)


def test_an_attack_stuck_from_the_first_line_is_stripped(tmp_path) -> None:
    stuck = step(mouse={"buttons": [0]})
    steps = [step(mouse={"buttons": [0], "newButtons": [0]}), stuck, stuck]
    steps += [step(mouse={"buttons": [0], "newButtons": [0]}), stuck, step()]
    assert column(read_vpt(write_vpt(tmp_path, steps)).action, "attack") == [0, 0, 0, 1, 1, 0]
    honest = [step(), step(mouse={"buttons": [0], "newButtons": [0]}), stuck]
    assert column(read_vpt(write_vpt(tmp_path, honest, name="honest")).action, "attack") == [0, 1, 1]


def test_the_scroll_wheel_changes_the_hotbar_without_a_key(tmp_path) -> None:
    steps = [step(), step(hotbar=4), step(hotbar=4), step(hotbar=0)]
    action = read_vpt(write_vpt(tmp_path, steps)).action
    assert column(action, "hotbar.5") == [0, 1, 0, 0] and column(action, "hotbar.1") == [0, 0, 0, 1]


def test_lines_without_a_hotbar_are_read(tmp_path) -> None:
    """Recorders before 6.11 did not tell the slot: keys are data all the same, and no slot is made up."""
    steps = [step(keys=["key.keyboard.w", "key.keyboard.4"]) for _ in range(12)]
    for one in steps:
        del one["hotbar"]
    steps += [step(hotbar=None), step(hotbar=0), step(hotbar=2)]
    log = read_vpt(write_vpt(tmp_path, steps))
    assert log.readable.all() and column(log.action, "forward") == [1] * 12 + [0] * 3
    assert column(log.action, "hotbar.4") == [1] * 12 + [0] * 3
    assert column(log.action, "hotbar.1") == [0] * 15 and column(log.action, "hotbar.3") == [0] * 14 + [1]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"hotbar": 9}, "hotbar is 9, not 0 to 8"),
        ({"mouse": {"dx": 1e300}}, "the mouse moves by 1e\\+300, 0 px"),
        ({"keyboard": None}, "NoneType"),
    ],
)
def test_what_is_wrong_with_lines_is_told(tmp_path, change, what) -> None:
    log = read_vpt(write_vpt(tmp_path, [step(), step(**change)]))
    assert log.readable.tolist() == [True, False] and np.isfinite(log.action).all()
    [told] = log.unreadable
    assert re.search(what, told)


def test_frames_with_an_open_window_are_not_play(tmp_path) -> None:
    steps = [step(keys=["key.keyboard.d"]) for _ in range(40)]
    for index in range(15, 22):
        steps[index] = step(isGuiOpen=True, mouse={"dx": 300.0})
    steps[30] = '{"mouse": broken'
    report = run("vpt", write_vpt(tmp_path, steps), tmp_path / "out.h5")
    assert report.dropped == {"gui_open": 7, "keyboard_unreadable": 1} and report.recordings[0].episodes == 2
    validate(tmp_path / "out.h5")
    with DatasetFile(tmp_path / "out.h5") as file:
        assert file.vocabulary == MINECRAFT and file.fps == 20.0 and file.ep_len.tolist() == [15, 17]
        assert set(column(file.action, "right")) == {1.0} and set(column(file.action, "yaw")) == {0.0}


def test_a_video_a_few_frames_off_is_cut_and_one_far_off_refused(tmp_path) -> None:
    near = write_vpt(tmp_path, [step()] * 50, frames=47, name="near")
    assert run("vpt", near, tmp_path / "near.h5").kept == 47
    far = write_vpt(tmp_path, [step()] * 50, frames=20, name="far")
    [failure] = run("vpt", far, tmp_path / "far.h5").failures
    assert "has 50 lines but its video 20 frames" in failure.message
    (tmp_path / "near.mp4").unlink()
    [failure] = run("vpt", near, tmp_path / "gone.h5").failures
    assert "its video 'near.mp4' is missing" in failure.message


def mp4(frames: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream: Any = container.add_stream("libx264", rate=20)
        stream.height, stream.width, stream.pix_fmt = *frames.shape[1:3], "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def minestudio(root: Path, frames: int = 72, evil: object = None, changes: dict | None = None) -> np.ndarray:
    """A dataset as MineStudio writes it: chunks of 32, the count rounded up, image and action cut apart."""
    lmdb = pytest.importorskip("lmdb", reason="the minestudio extra is not installed")
    pixels = moving_frames(frames, 96, 96)
    for modality, number in (("action", 0), ("image", 3), ("meta_info", 1)):
        part = root / modality / "part-0"
        part.mkdir(parents=True)
        info = {"episode": "Player7-abc-20220101-000000", "episode_idx": number, "num_frames": 96}
        rows = {"__chunk_size__": pickle.dumps(32), "__chunk_infos__": pickle.dumps([info])}
        rows |= {"__num_episodes__": pickle.dumps(1), "__num_total_frames__": pickle.dumps(96)}
        for start in range(0, frames, 32):
            steps = np.arange(start, min(start + 32, frames))
            if modality == "image":
                value = mp4(pixels[steps])
            elif modality == "action":
                fields = {
                    name: (steps % 3 == 0).astype(np.uint8) for name in ("forward", "attack", "swapHands")
                }
                value = pickle.dumps({**fields, "camera": np.stack([steps / 8, -steps / 4], -1)})
            else:
                value = pickle.dumps([{"isGuiOpen": bool(40 <= s < 44), "yaw": 0.0} for s in steps])
            if evil is not None and modality == "action" and start == 32:
                value = pickle.dumps(evil)
            rows[str((number, start))] = value
        rows |= (changes or {}).get(modality, {})
        with lmdb.open(str(part), map_size=2**26) as database, database.begin(write=True) as transaction:
            for key, value in rows.items():
                transaction.put(key.encode(), value)
    return pixels


def test_minestudio(tmp_path) -> None:
    pixels = minestudio(tmp_path / "6xx")
    report = run("minestudio", tmp_path / "6xx", tmp_path / "out.h5")
    assert report.frames_in == 72 and report.dropped == {"gui_open": 4}
    validate(tmp_path / "out.h5")
    with DatasetFile(tmp_path / "out.h5") as file:
        # 40 frames, a window, 28 frames: the rows between are gone but 200 ms is a gap.
        assert file.ep_len.tolist() == [40, 28]
        steps = np.r_[0:40, 44:72]
        np.testing.assert_array_equal(column(file.action, "forward"), steps % 3 == 0)
        np.testing.assert_allclose(column(file.action, "yaw"), -steps / 4)
        np.testing.assert_allclose(column(file.action, "pitch"), steps / 8)
        shown = pixels[steps][:, ::2, ::2].astype(int)
        assert np.abs(file.pixels[:].astype(int) - shown).mean() < 10


class Evil:
    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.target}",)


def test_a_pickle_that_runs_code_is_refused(tmp_path) -> None:
    minestudio(tmp_path / "evil", evil=Evil(tmp_path / "pwned"))
    report = run("minestudio", tmp_path / "evil", tmp_path / "out.h5")
    assert "refused a pickle that is not plain data (it asks for posix.system)" in report.failures[0].message
    assert not (tmp_path / "pwned").exists() and not (tmp_path / "out.h5").exists()


@pytest.mark.parametrize("name", ["eval", "exec", "getattr", "__import__", "open"])
def test_no_builtin_gets_through(name) -> None:
    with pytest.raises(UserError, match=rf"builtins.{name}"):
        load_plain(f"cbuiltins\n{name}\n.".encode(), "it")


def test_plain_data_gets_through() -> None:
    data = {"a": np.arange(3), "b": [np.float32(2), {"c": (None, "x", b"y")}]}
    for protocol in range(2, 6):
        loaded = load_plain(pickle.dumps(data, protocol), "it")
        assert loaded["a"].tolist() == [0, 1, 2] and loaded["b"][1] == {"c": (None, "x", b"y")}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"action": {"__chunk_size__": pickle.dumps(0)}}, "`__chunk_size__` is '0', not a number of frames"),
        ({"action": {"__chunk_size__": pickle.dumps("32")}}, "`__chunk_size__` is '32'"),
        ({"image": {"(3, 32)": b"no video" * 99}}, "an image chunk cannot be opened as video"),
        (
            {"action": {"(0, 32)": pickle.dumps({"camera": np.full((32, 2), np.inf)})}},
            "an action chunk is not in",
        ),
        ({"meta_info": {"(1, 32)": pickle.dumps([3, 4])}}, "`meta_info` is not in MineStudio's form"),
    ],
)
def test_a_damaged_minestudio_folder_does_not_stop_the_others(tmp_path, changes, message) -> None:
    minestudio(tmp_path / "bad", changes=changes)
    minestudio(tmp_path / "good")
    minestudio(tmp_path / "cut")
    data = tmp_path / "cut" / "image" / "part-0" / "data.mdb"
    data.write_bytes(data.read_bytes()[:-4096])
    items = find_items("minestudio", [tmp_path / name for name in ("bad", "cut", "good")])
    report = clean(items, tmp_path / "out.h5", SETTINGS, RunOptions())
    assert report.kept == 68 and len(report.failures) == 2
    assert message in report.failures[0].message
    assert "data.mdb: truncated or damaged LMDB" in report.failures[1].message


def test_a_damaged_image_chunk_does_not_shift_the_actions(tmp_path) -> None:
    """Frames that fail to decode in the middle would give all later ones the actions of others."""
    whole = mp4(moving_frames(32, 96, 96))
    middle = whole.index(b"mdat") + 1700
    broken = whole[:middle] + bytes(300) + whole[middle + 300 :]
    minestudio(tmp_path / "bad", changes={"image": {"(3, 32)": broken}})
    [failure] = run("minestudio", tmp_path / "bad", tmp_path / "out.h5").failures
    assert "an image chunk of 'Player7-abc-20220101-000000' is damaged" in failure.message


def test_a_folder_that_is_no_minestudio_dataset(tmp_path) -> None:
    with pytest.raises(UserError, match="no episode has both `action` and `image`"):
        MineStudioFolder(tmp_path)
