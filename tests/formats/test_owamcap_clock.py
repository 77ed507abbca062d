"""Input log and video keep clocks of their own: what lies between them, and what the pictures say of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from actswm.formats.keymap import SHOOTER_KEYS, VIRTUAL_KEYS
from actswm.formats.owamcap import FrameSpans, Kind, actions_of_frames, read_recording
from actswm.formats.video import decode, frame_times

from ..made.recordings import MS, START, MadeRecording

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "owamcap"
MOVING = slice(13, 31)
"""Frames of the sample in which the cursor is over the window and moves."""


def screens(pts_ms: list[int], late_ms: list[int]) -> list[tuple[int, dict]]:
    """Screen messages logged `late_ms` after their frames."""
    return [
        (pts + late, {"media_ref": {"uri": "run.mkv", "pts_ns": pts * MS}})
        for pts, late in zip(pts_ms, late_ms)
    ]


def test_a_recorder_that_starts_slowly(tmp_path) -> None:
    """All messages come 30 ms late but the first: W goes down in frame 10, not in the next one."""
    made = MadeRecording(tmp_path)
    made.screens = screens(made.pts_ms, [0] + [30] * 99)
    recording = read_recording(made.key(235, VIRTUAL_KEYS["W"], True).write())
    assert recording.offset_ns == START + 30 * MS
    assert recording.clock.first_ns == -30 * MS and recording.clock.first_is_outlier
    spans = FrameSpans.of_frames(frame_times(recording.video_path) + recording.offset_ns, 150 * MS)
    pressed = actions_of_frames(recording.inputs, spans, SHOOTER_KEYS)[:, 0]
    assert np.flatnonzero(pressed)[0] == 10


def test_messages_that_wait_for_the_next_frame_do_not_move_the_clock(tmp_path) -> None:
    """In a sparse clip most messages are logged when the next frame comes, hundreds of milliseconds late."""
    made = MadeRecording(tmp_path, frames=24)
    made.pts_ms = np.cumsum([0] + [20, 400, 500] * 8)[:24].tolist()
    waits = [*np.diff(made.pts_ms).tolist(), 400]
    made.screens = screens(made.pts_ms, [5 if wait == 20 else wait for wait in waits])
    clock = read_recording(made.write()).clock
    assert clock.offset_ns == START + 5 * MS and not clock.first_is_outlier


def test_one_screen_message_is_enough(tmp_path) -> None:
    made = MadeRecording(tmp_path, frames=12)
    made.screens = screens([0], [7])
    assert read_recording(made.write()).offset_ns == START + 7 * MS


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the real sample recordings are not on this machine")
def test_the_cursor_in_the_picture_is_where_the_log_says() -> None:
    """The real recording shows its cursor. At the right offset the log's cursor moves as the picture's does."""
    recording = read_recording(SAMPLES / "0.4.2.mcap")
    frames = list(decode(recording.video_path))
    height, width = frames[0].shape
    grey = np.stack([frame.rgb(height, width).mean(-1) for frame in frames[13:]])
    seen = np.array([_brightest_square(np.abs(one - np.median(grey, 0))) for one in grey[:18]])
    pts_ns = np.array([frame.pts_ns for frame in frames])[MOVING]
    log = recording.inputs
    cursor = log.kind == Kind.CURSOR
    places = np.stack([log.y[cursor], log.x[cursor]], -1)

    def error(offset_ns: int) -> float:
        """Mean distance in px between cursor and log, where the window lies best."""
        logged = places[np.searchsorted(log.time_ns[cursor], pts_ns + offset_ns, side="right") - 1]
        apart = seen - logged
        return float(np.linalg.norm(apart - np.median(apart, 0), axis=-1).mean())

    first_ns = int(recording.screen_log_ns[0] - recording.screen_pts_ns[0])
    errors = {ms: error(first_ns + ms * MS) for ms in range(-60, 101, 5)}
    best_ms = min(errors, key=errors.__getitem__)
    assert abs(recording.offset_ns - first_ns - best_ms * MS) <= 10 * MS
    assert error(recording.offset_ns) < errors[0] / 3
    assert recording.clock.first_is_outlier


def _brightest_square(picture: np.ndarray, size: int = 16) -> tuple[int, int]:
    """Row and column of the square that differs most from the background."""
    total = np.pad(picture, ((1, 0), (1, 0))).cumsum(0).cumsum(1)
    sums = total[size:, size:] - total[:-size, size:] - total[size:, :-size] + total[:-size, :-size]
    row, column = np.unravel_index(sums.argmax(), sums.shape)
    return int(row), int(column)
