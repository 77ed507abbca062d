"""Reading OWAMcap: both schema generations, real files, and everything that can be wrong with a recording."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actswm.controls import KEYS14, MINECRAFT
from actswm.errors import UserError
from actswm.formats.keymap import MINECRAFT_KEYS, SHOOTER_KEYS, VIRTUAL_KEYS, KeyMap
from actswm.formats.owamcap import FrameSpans, OwamcapWriter, actions_of_frames, messages, read_recording
from actswm.formats.owamcap.crop import crop_recording
from actswm.formats.video import DecodedFrame, decode, frame_times

from ..made.recordings import MS, MadeRecording

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "owamcap"
W, A = VIRTUAL_KEYS["W"], VIRTUAL_KEYS["A"]


def actions(path: Path, key_map: KeyMap = SHOOTER_KEYS) -> np.ndarray:
    recording = read_recording(path)
    times = frame_times(recording.video_path) + recording.offset_ns
    return actions_of_frames(recording.inputs, FrameSpans.of_frames(times, 150 * MS), key_map)


def pressed(table: np.ndarray, name: str) -> list[int]:
    return np.flatnonzero(table[:, KEYS14.index(name)]).tolist()


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the real sample recordings are not on this machine")
@pytest.mark.parametrize(("version", "frames", "screens"), [("0.5.1", 18, 17), ("0.4.2", 34, 33)])
def test_real_recordings_of_both_generations(version, frames, screens) -> None:
    """Variable rate, audio and subtitle tracks, one more frame than screen messages."""
    recording = read_recording(SAMPLES / f"{version}.mcap")
    times = frame_times(recording.video_path)
    assert len(times) == frames and len(recording.screen_pts_ns) == screens
    decoded = list(decode(recording.video_path))
    assert [frame.pts_ns for frame in decoded] == times.tolist()
    assert decoded[0].rgb(128, 128).shape == (128, 128, 3)
    table = actions(recording.path)
    assert pressed(table, "Ctrl")[-1] == frames - 1  # held at the end and never released


@pytest.mark.parametrize("version", ["0.5.1", "0.4.2"])
def test_real_recordings_agree_with_the_owa_reader(version) -> None:
    highlevel = pytest.importorskip("mcap_owa.highlevel", reason="the format's own reader is not installed")
    if not SAMPLES.is_dir():
        pytest.skip("the real sample recordings are not on this machine")
    path = SAMPLES / f"{version}.mcap"
    with highlevel.OWAMcapReader(str(path), decode_args={"return_dict": True}) as reader:
        theirs = Counter(
            (m.timestamp, m.decoded["vk"]) for m in reader.iter_messages() if m.topic == "keyboard"
        )
    log = read_recording(path).inputs
    keyboard = log.kind <= 1
    assert Counter(zip(log.time_ns[keyboard].tolist(), log.code[keyboard].tolist())) == theirs


def test_a_key_belongs_to_the_frames_in_which_it_is_down(tmp_path) -> None:
    """Down 5 ms into frame 10, up exactly at frame 20: frames 10 to 19. A tap inside a frame is one frame."""
    made = MadeRecording(tmp_path).key(205, W, True).key(400, W, False)
    made.key(605, A, True).key(610, A, False)
    table = actions(made.write())
    assert pressed(table, "W") == list(range(10, 20))
    assert pressed(table, "A") == [30]


def test_state_messages_correct_what_events_missed(tmp_path) -> None:
    """W's release was lost: the state at 500 ms lifts it. A's press was lost: the state at 1000 ms presses it."""
    made = MadeRecording(tmp_path).key(100, W, True)
    made.states = False
    made.at(500, messages.KEYBOARD_STATE, {"buttons": []})
    made.at(1000, messages.KEYBOARD_STATE, {"buttons": [A]}).at(
        1500, messages.KEYBOARD_STATE, {"buttons": []}
    )
    table = actions(made.write())
    assert pressed(table, "W") == list(range(5, 25))
    assert pressed(table, "A") == list(range(50, 75))


def test_mouse_buttons_from_clicks_raw_flags_and_states(tmp_path) -> None:
    made = MadeRecording(tmp_path)
    made.states = False
    click = {"event_type": "click", "x": 0, "y": 0, "button": "left"}
    made.at(100, messages.MOUSE, {**click, "pressed": True}).at(
        200, messages.MOUSE, {**click, "pressed": False}
    )
    made.at(400, messages.RAW_MOUSE, {"last_x": 0, "last_y": 0, "button_flags": 0x0004})
    made.at(500, messages.RAW_MOUSE, {"last_x": 0, "last_y": 0, "button_flags": 0x0008})
    made.at(800, messages.MOUSE_STATE, {"x": 0, "y": 0, "buttons": ["left"]})
    made.at(900, messages.MOUSE_STATE, {"x": 0, "y": 0, "buttons": []})
    table = actions(made.write())
    assert pressed(table, "Fire") == [*range(5, 10), *range(40, 45)]
    assert pressed(table, "Aim") == list(range(20, 25))


def test_older_screen_messages_open(tmp_path) -> None:
    made = MadeRecording(tmp_path, frames=10)
    made.screens = [
        (ms, {"path": "run.mkv", "pts": ms * MS, "original_shape": [64, 64]}) for ms in made.pts_ms
    ]
    recording = read_recording(made.write())
    assert recording.video_path.name == "run.mkv" and recording.screen_pts_ns[-1] == 180 * MS


def uri(uri: object):
    def change(made: MadeRecording) -> None:
        made.screens = [(0, {"media_ref": {"uri": uri, "pts_ns": 0}})]

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (uri("../secret.mkv"), r"'\.\./secret\.mkv' leads out of the recording's folder; refused"),
        (uri("/etc/hostname"), r"leads out of the recording's folder"),
        (uri("file:///etc/hostname"), r"leads out of the recording's folder"),
        (uri("https://example.org/a.mkv"), r"only a file beside the recording"),
        (uri("other.mkv"), r"its video 'other\.mkv' is missing"),
        (lambda made: setattr(made, "screens", [(0, {"utc_ns": 3})]), r"no `screen` messages"),
        (uri(["run.mkv"]), r"no `screen` messages that point to a video"),
        (uri(5), r"no `screen` messages that point to a video"),
        (uri({"run": 1}), r"no `screen` messages that point to a video"),
        (uri("http://["), r"the video's name 'http://\[' cannot be read"),
    ],
)
def test_a_recording_whose_video_cannot_be_trusted(tmp_path, change, message) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "secret.mkv").write_bytes(b"x")
    made = MadeRecording(folder, frames=12)
    change(made)
    with pytest.raises(UserError, match=message):
        read_recording(made.write())


def test_files_cut_short(tmp_path) -> None:
    path = MadeRecording(tmp_path).write()
    whole = path.read_bytes()
    for length in range(1, len(whole), max(1, len(whole) // 25)):
        path.write_bytes(whole[:length])
        with pytest.raises(UserError, match=r"run.mcap: not a complete MCAP file"):
            read_recording(path)
    path.write_bytes(b"")
    with pytest.raises(UserError, match=r"run.mcap: the file is empty"):
        read_recording(path)
    video = path.with_suffix(".mkv")
    video.write_bytes(b"")
    with pytest.raises(UserError, match=r"run.mkv: the video is empty"):
        frame_times(video)
    video.write_bytes(b"not a video at all" * 100)
    with pytest.raises(UserError, match=r"run.mkv: cannot be opened as a video"):
        frame_times(video)


def test_a_picture_that_cannot_be_converted_is_a_message() -> None:
    class Damaged:
        def reformat(self, **_: object) -> None:
            raise av.InvalidDataError(1094995529, "Invalid data found")

    with pytest.raises(UserError, match=r"cannot be converted .*Invalid data found.*damaged"):
        DecodedFrame(0, Damaged()).rgb(8, 8)


def test_linked_recordings_open(tmp_path) -> None:
    """Download caches keep files as links to a store elsewhere."""
    store, shown = tmp_path / "store", tmp_path / "shown"
    store.mkdir()
    shown.mkdir()
    path = MadeRecording(store, frames=12).write()
    for file in (path, path.with_suffix(".mkv")):
        (shown / file.name).symlink_to(file)
    assert read_recording(shown / "run.mcap").video_path == shown / "run.mkv"


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_damage_never_ends_in_anything_but_a_message(tmp_path_factory, data) -> None:
    path = MadeRecording(tmp_path_factory.mktemp("run"), frames=12).key(100, W, True).write()
    damaged = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(damaged)
    try:
        read_recording(path)
    except UserError as error:
        assert "run.mcap" in str(error)


binary = st.lists(st.sampled_from([n for n in KEYS14.names if n not in ("Turn_L", "Look_U")]), max_size=6)


@settings(deadline=None, max_examples=40)
@given(st.lists(binary, min_size=5, max_size=40))
def test_what_the_writer_writes_the_reader_reads(tmp_path_factory, steps) -> None:
    path = tmp_path_factory.mktemp("run") / "run.mcap"
    wanted = np.stack([KEYS14.action(names) for names in steps])
    with OwamcapWriter(path, height=16, width=16, fps=35, vocabulary=KEYS14) as writer:
        for action in wanted:
            writer.add(np.zeros((16, 16, 3), np.uint8), action)
    np.testing.assert_array_equal(actions(path), wanted)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(-30, 30), st.floats(-30, 30)), min_size=3, max_size=20))
def test_camera_degrees_survive_to_a_hundredth(tmp_path_factory, degrees) -> None:
    path = tmp_path_factory.mktemp("run") / "run.mcap"
    wanted = np.stack([MINECRAFT.action(["forward"], {"pitch": p, "yaw": y}) for p, y in degrees])
    with OwamcapWriter(path, height=16, width=16, fps=20, vocabulary=MINECRAFT) as writer:
        for action in wanted:
            writer.add(np.zeros((16, 16, 3), np.uint8), action)
    own = read_recording(path).key_map
    assert own is not None and own.bindings == MINECRAFT_KEYS.bindings
    np.testing.assert_allclose(actions(path, own), wanted, atol=0.0051)


def test_a_cropped_piece_stands_alone(tmp_path) -> None:
    """Cut in the middle of a held key: the piece still knows that it is down, and opens as a recording."""
    made = MadeRecording(tmp_path).key(300, W, True).key(1200, W, False).key(900, A, True)
    path = made.write()
    [piece] = crop_recording(path, [(500 * MS, 1500 * MS)], tmp_path / "pieces")
    np.testing.assert_array_equal(actions(piece), actions(path)[25:76])
    whole, part = list(decode(path.with_suffix(".mkv"))), list(decode(piece.with_suffix(".mkv")))
    assert [frame.pts_ns for frame in part] == [ms * MS for ms in range(0, 1001, 20)]
    error = np.abs(part[7].rgb(64, 64).astype(int) - whole[32].rgb(64, 64))
    assert error.mean() < 4
