"""Each rule of stage 1, tripped by a recording made for it, and by nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actswm.controls import KEYS14
from actswm.curation.frames import CutRules, Drop, FrameTable, segmented
from actswm.curation.prefilter import PrefilterRules, prefilter
from actswm.errors import UserError
from actswm.formats.keymap import SHOOTER_KEYS, VIRTUAL_KEYS, KeyMap
from actswm.formats.owamcap import messages, read_recording
from actswm.formats.video import frame_times

from ..made.recordings import MS, START, MadeRecording, write_mcap

W, SPACE = VIRTUAL_KEYS["W"], VIRTUAL_KEYS["Space"]


def table_of(path: Path, key_map: KeyMap = SHOOTER_KEYS, rules: PrefilterRules | None = None) -> FrameTable:
    recording = read_recording(path)
    return prefilter(recording, frame_times(recording.video_path), key_map, rules)


def dropped(table: FrameTable) -> dict[Drop, int]:
    return {Drop(reason): count for reason, count in Counter(table.drop.tolist()).items() if reason}


def pressed(table: FrameTable, name: str) -> list[int]:
    return np.flatnonzero(table.action[:, KEYS14.index(name)]).tolist()


def test_an_untroubled_recording_is_kept_whole(tmp_path) -> None:
    table = table_of(MadeRecording(tmp_path).write())
    assert dropped(table) == {} and set(table.segment) == {0}


def test_keyboard_that_does_not_decode(tmp_path) -> None:
    """From the bad message at 300 ms to the next keyboard state at 500 ms: frames 15 to 24."""
    table = table_of(MadeRecording(tmp_path).at(300, messages.KEYBOARD, b'{"event_type": "press"').write())
    assert np.flatnonzero(table.drop).tolist() == list(range(15, 25))
    assert dropped(table) == {Drop.KEYBOARD_UNREADABLE: 10}


def test_keyboard_states_of_older_recorders(tmp_path) -> None:
    """Before 0.3.2 the field had another name: A is held from 400 ms to 800 ms by state messages alone."""
    made = MadeRecording(tmp_path)
    made.states = False
    for ms, held in ((0, []), (400, [VIRTUAL_KEYS["A"]]), (800, []), (1600, [])):
        made.at(ms, messages.KEYBOARD_STATE, {"pressed_vk_list": held})
    table = table_of(made.write())
    assert dropped(table) == {} and pressed(table, "A") == list(range(20, 40))


@pytest.mark.parametrize(
    "message",
    [
        {"last_x": "far", "last_y": 0},
        {"last_x": 2**40, "last_y": 0},
        {"last_x": 3, "last_y": 3, "us_flags": 1},
    ],
)
def test_mouse_that_does_not_decode(tmp_path, message) -> None:
    table = table_of(MadeRecording(tmp_path).at(390, messages.RAW_MOUSE, message).write())
    assert np.flatnonzero(table.drop).tolist() == list(range(19, 25))
    assert dropped(table) == {Drop.MOUSE_UNREADABLE: 6}


def test_silent_input_streams(tmp_path) -> None:
    """Five seconds without any message; the frames in which messages fall stay."""
    made = MadeRecording(tmp_path, frames=400)
    made.states = False
    made.key(1000, W, True).key(6000, W, False).key(7000, W, True)
    table = table_of(made.write())
    assert dropped(table) == {Drop.INPUT_SILENT: 249}
    assert np.flatnonzero(table.drop).tolist() == list(range(51, 300))


def test_a_held_key_and_a_resting_player_are_data(tmp_path) -> None:
    """State messages alone keep ten seconds of holding W."""
    table = table_of(MadeRecording(tmp_path, frames=500).key(100, W, True).write())
    assert dropped(table) == {} and pressed(table, "W") == list(range(5, 500))


def test_silence_is_longer_than_the_setting_not_as_long(tmp_path) -> None:
    made = MadeRecording(tmp_path, frames=151)
    made.states = False
    made.key(400, W, True).key(2400, W, False).key(3000, W, True)
    path = made.write()
    assert dropped(table_of(path)) == {}
    assert dropped(table_of(path, rules=PrefilterRules(silence_ns=2000 * MS - 1))) == {Drop.INPUT_SILENT: 99}


def test_timestamps_that_run_backwards(tmp_path) -> None:
    made = MadeRecording(tmp_path)
    made.pts_ms[40:43] = [700, 720, 740]
    table = table_of(made.write())
    assert dropped(table) == {Drop.TIMESTAMP_BACKWARDS: 3}
    assert np.flatnonzero(table.drop).tolist() == [40, 41, 42]


def test_duplicated_timestamps(tmp_path) -> None:
    made = MadeRecording(tmp_path)
    made.pts_ms[40] = made.pts_ms[39]
    table = table_of(made.write())
    assert dropped(table) == {Drop.TIMESTAMP_DUPLICATE: 1} and table.drop[40]


def test_a_clock_that_jumps(tmp_path) -> None:
    """From frame 60 on, screen messages are logged 10 s later than their video time says."""
    made = MadeRecording(tmp_path)
    made.screens = [
        (pts + (10_000 if index >= 60 else 0), {"media_ref": {"uri": "run.mkv", "pts_ns": pts * MS}})
        for index, pts in enumerate(made.pts_ms)
    ]
    table = table_of(made.write())
    assert dropped(table) == {Drop.TIMESTAMP_JUMP: 40}
    assert np.flatnonzero(table.drop).tolist() == list(range(60, 100))


def test_an_input_clock_that_runs_backwards(tmp_path) -> None:
    """A keyboard message of 500 ms comes in the file after one of 700 ms: what happened in between is unknown."""
    made = MadeRecording(tmp_path)
    made.write()
    rows = [
        (pts, messages.SCREEN, {"media_ref": {"uri": "run.mkv", "pts_ns": pts * MS}}) for pts in made.pts_ms
    ]
    rows += [(700, messages.KEYBOARD, {"event_type": "press", "vk": W})]
    rows += [(500, messages.KEYBOARD, {"event_type": "release", "vk": W})]
    write_mcap(made.path, rows)
    table = table_of(made.path)
    assert dropped(table) == {Drop.TIMESTAMP_BACKWARDS: 10}
    assert np.flatnonzero(table.drop).tolist() == list(range(25, 35))


def test_frames_after_a_death(tmp_path) -> None:
    made = MadeRecording(tmp_path, frames=500).at(2000, messages.EVENT, {"name": "death"})
    path = made.at(3000, messages.EVENT, {"name": "pickup"}).write()
    table = table_of(path)
    assert np.flatnonzero(table.drop).tolist() == list(range(100, 350))
    assert dropped(table) == {Drop.DEATH: 250}
    assert dropped(table_of(path, rules=PrefilterRules(death_ns=1000 * MS))) == {Drop.DEATH: 50}


def test_deaths_may_come_from_a_file_beside_the_recording(tmp_path) -> None:
    path = MadeRecording(tmp_path, frames=500).write()
    path.with_suffix(".deaths.json").write_text(f"[{START + 2000 * MS}]")
    assert dropped(table_of(path)) == {Drop.DEATH: 250}
    path.with_suffix(".deaths.json").write_text('["noon"]')
    with pytest.raises(UserError, match=r"deaths.json.*nanoseconds"):
        table_of(path)


def test_a_gap_splits_and_a_shorter_one_does_not(tmp_path) -> None:
    made = MadeRecording(tmp_path, frames=60)
    made.pts_ms = [ms + (131 if ms >= 600 else 0) for ms in made.pts_ms]  # 151 ms between frames 29 and 30
    table = table_of(made.write())
    assert dropped(table) == {} and table.segment.tolist() == [0] * 30 + [1] * 30
    made = MadeRecording(tmp_path, "near", frames=60)
    made.pts_ms = [ms + (130 if ms >= 600 else 0) for ms in made.pts_ms]  # exactly 150 ms
    made.screens = [(ms, {"media_ref": {"uri": "near.mkv", "pts_ns": ms * MS}}) for ms in made.pts_ms]
    assert set(table_of(made.write()).segment) == {0}


def test_short_segments_are_dropped(tmp_path) -> None:
    """Ten frames of 20 ms span 180 ms and go; eleven span 200 ms and stay."""
    made = MadeRecording(tmp_path, frames=21)
    made.pts_ms = [*range(0, 200, 20), *range(1000, 1220, 20)]
    table = table_of(made.write())
    assert dropped(table) == {Drop.SHORT_SEGMENT: 10}
    assert table.segment.tolist() == [-1] * 10 + [0] * 11


@pytest.mark.parametrize(("counts", "turning"), [(3, False), (4, True)])
def test_turning_is_strictly_more_than_three_pixels_a_frame(tmp_path, counts, turning) -> None:
    """The motion of a frame is the sum of its messages."""
    made = MadeRecording(tmp_path)
    made.at(405, messages.RAW_MOUSE, {"last_x": counts - 1, "last_y": -counts})
    made.at(415, messages.RAW_MOUSE, {"last_x": 1, "last_y": 0})
    table = table_of(made.write())
    assert pressed(table, "Turn_R") == pressed(table, "Look_U") == ([20] if turning else [])
    assert not pressed(table, "Turn_L") and not pressed(table, "Look_D")


def test_raw_motion_wins_over_the_cursor(tmp_path) -> None:
    made = MadeRecording(tmp_path)
    for step in range(20):
        made.at(500 + 20 * step, messages.MOUSE, {"event_type": "move", "x": 50 * step, "y": 0})
    cursor_only = table_of(made.write())
    assert pressed(cursor_only, "Turn_R") == list(range(26, 45))
    made.at(100, messages.RAW_MOUSE, {"last_x": -9, "last_y": 0})
    with_raw = table_of(made.write())
    assert pressed(with_raw, "Turn_R") == [] and pressed(with_raw, "Turn_L") == [5]


def test_the_key_map_decides_what_a_key_means(tmp_path) -> None:
    path = MadeRecording(tmp_path).key(200, SPACE, True).key(300, SPACE, False).write()
    assert pressed(table_of(path), "Jump") == list(range(10, 15))
    table = table_of(path, KeyMap(KEYS14, {"Fire": ("Space", "MouseLeft")}))
    assert pressed(table, "Fire") == list(range(10, 15)) and not pressed(table, "Jump")


def test_a_video_shorter_than_its_log_is_refused(tmp_path) -> None:
    made = MadeRecording(tmp_path, frames=50)
    made.screens = [(ms, {"media_ref": {"uri": "run.mkv", "pts_ns": ms * MS}}) for ms in (*made.pts_ms, 5000)]
    with pytest.raises(UserError, match=r"run.mkv: ends 4020 ms before .*run.mcap logs"):
        table_of(made.write())


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=60),
    st.lists(st.booleans(), min_size=60, max_size=60),
)
def test_segments_hold_what_they_promise(intervals_ms, flags) -> None:
    pts_ns = np.cumsum(intervals_ms).astype(np.int64) * MS
    drop = np.where(flags[: len(pts_ns)], Drop.DEATH, Drop.KEPT).astype(np.uint8)
    rules = CutRules()
    table = segmented(pts_ns, np.zeros((len(pts_ns), 14), np.float32), drop, rules)
    assert ((table.segment >= 0) == table.kept).all()
    assert (table.drop[drop == Drop.DEATH] == Drop.DEATH).all()
    for segment in range(table.segment.max() + 1):
        times = pts_ns[table.segment == segment]
        assert times[-1] - times[0] >= rules.shortest_ns and (np.diff(times) <= rules.gap_ns).all()
    kept = pts_ns[table.kept]
    changes = np.diff(table.segment[table.kept]) != 0
    assert (np.diff(kept)[changes] > rules.gap_ns).all()
