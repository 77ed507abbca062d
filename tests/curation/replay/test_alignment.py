from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from actswm.curation.replay.alignment import UNKNOWN, align, repeated_frames
from actswm.curation.replay.fitting import drawn_times
from actswm.curation.replay.marker import draw_marker, read_marker
from actswm.curation.replay.rows import make_rows
from actswm.formats.replay import STRIP_ROWS, Capture, Event, Track, Window

from .made import made_replay
from .made_engine import MadeEngine, grabbed, view, with_positions

WINDOW = Window(1, "Ann", 1, 40, 380)


@pytest.mark.parametrize("number", [0, 1, 4096, 123_456_789, 2**28 - 1])
@pytest.mark.parametrize("width", [76, 128, 1280])
def test_the_marker_is_read_back(number: int, width: int) -> None:
    frame = np.random.default_rng(0).integers(0, 255, (60, width, 3), dtype=np.uint8)
    draw_marker(frame, number, STRIP_ROWS)
    assert read_marker(frame, STRIP_ROWS) == number
    noisy = np.clip(frame * 0.8 + 20 + np.random.default_rng(1).normal(0, 12, frame.shape), 0, 255)
    assert read_marker(noisy.astype(np.uint8), STRIP_ROWS) == number


def test_torn_damaged_and_absent_markers_are_none() -> None:
    frame = np.zeros((60, 128, 3), np.uint8)
    assert read_marker(frame, STRIP_ROWS) is None
    assert read_marker(np.full_like(frame, 255), STRIP_ROWS) is None
    draw_marker(frame, 5000, STRIP_ROWS)
    torn = frame.copy()
    other = frame.copy()
    draw_marker(other, 5010, STRIP_ROWS)
    torn[30:] = other[30:]
    assert read_marker(torn, STRIP_ROWS) is None
    wrong = frame.copy()
    wrong[:, 30:33] = 255 - wrong[:, 30:33]  # one cell in both strips
    assert read_marker(wrong, STRIP_ROWS) is None


def test_counted_captures_are_what_they_count(tmp_path) -> None:
    replay = made_replay()
    engine = MadeEngine(replay, tmp_path)
    engine.start()
    capture = engine.capture(WINDOW)
    alignment = align(capture, replay, WINDOW)
    assert alignment.method == "counted" and alignment.valid.all() and not alignment.residual.any()
    rows = make_rows(capture, alignment, replay, WINDOW, 32.0)
    assert rows.valid.all() and np.array_equal(rows.tick, np.arange(40, 381))
    half = make_rows(capture, alignment, replay, WINDOW, 16.0)
    assert np.array_equal(half.tick, np.arange(40, 381, 2)) and half.valid.all()


def test_marked_captures_find_dropped_and_repeated_frames() -> None:
    replay = with_positions(made_replay())
    capture, truth = grabbed(replay, WINDOW)
    frames = list(capture.frames)
    frames[50] = frames[50].copy()
    frames[50][:STRIP_ROWS] = 128  # damaged: this one is not to be guessed
    alignment = align(replace(capture, frames=frames), replay, WINDOW)
    assert alignment.method == "marker"
    assert alignment.tick[50] == UNKNOWN and not alignment.valid[50] and np.isnan(alignment.residual[50])
    others = np.arange(len(truth)) != 50
    assert np.array_equal(alignment.tick[others], truth[others])
    missed = sorted(set(range(40, 381)) - set(truth[others].tolist()))
    assert missed and alignment.repeated.sum() > 20
    rows = make_rows(capture, alignment, replay, WINDOW, 32.0)
    assert sorted(rows.tick[~rows.valid].tolist()) == missed
    shown = np.array(truth)[rows.source]
    assert np.array_equal(shown[rows.valid], rows.tick[rows.valid])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bend", [1.0, 0.99])
def test_without_a_marker_the_clock_is_fitted(seed: int, bend: float) -> None:
    replay = made_replay()
    capture, truth = grabbed(replay, WINDOW, marker=False, seed=seed)
    alignment = align(replace(capture, time_s=bend * capture.time_s), replay, WINDOW)
    assert alignment.method == "fitted" and alignment.valid.mean() >= 0.94  # not after stalls
    near = np.abs(alignment.tick - truth)[alignment.valid] <= 1
    assert near.mean() >= 0.96


def test_shots_alone_tell_the_clock() -> None:
    ticks = np.arange(1, 401)
    still = np.zeros(400, np.float32)
    track = Track(1, ticks, np.ones(400, bool), still, still)
    rng = np.random.default_rng(0)
    shots = np.sort(rng.choice(np.arange(50, 370), 25, replace=False))
    replay = replace(
        made_replay(), tracks={1: track}, events=tuple(Event(int(tick), "shot", 1) for tick in shots)
    )
    shown = np.arange(30, 390, 0.7)
    base = view(replay, 1, 1)
    frames = []
    for tick in shown:
        flash = 70 if np.floor(tick) in shots else 0
        noise = rng.integers(0, 4, base.shape)
        frames.append(np.clip(base.astype(int) + flash + noise, 0, 255).astype(np.uint8))
    capture = Capture(frames, (shown - 30) / 32.0)
    alignment = align(capture, replay, WINDOW)
    assert alignment.valid.mean() > 0.9
    assert (np.abs(alignment.tick - np.floor(shown))[alignment.valid] <= 1).mean() >= 0.95


def test_where_nothing_shows_no_frame_is_valid() -> None:
    replay = made_replay()
    still = Track(
        1, np.arange(1, 401), np.ones(400, bool), np.zeros(400, np.float32), np.zeros(400, np.float32)
    )
    dull = replace(replay, tracks={1: still}, events=())
    noise = np.random.default_rng(0).integers(90, 94, (300, 48, 114, 3), dtype=np.uint8)
    alignment = align(Capture(list(noise), np.arange(300) / 30), dull, WINDOW)
    assert not alignment.valid.any() and (alignment.tick == UNKNOWN).all()
    somebody_else, _ = grabbed(replay, replace(WINDOW, slot=2), marker=False)
    assert not align(somebody_else, replay, WINDOW).valid.any()


def test_a_picture_is_as_old_as_the_first_sight_of_the_one_before() -> None:
    time_s = np.array([0.0, 0.02, 0.04, 0.06, 0.08, 0.38, 0.40, 0.42, 1.0])
    repeated = np.array([False, False, True, True, False, False, False, True, True])
    drawn, sure = drawn_times(time_s, repeated, unsure_s=0.1)
    np.testing.assert_allclose(drawn, [0.0, 0.0, 0.0, 0.0, 0.02, 0.32, 0.38, 0.38, 0.38])
    # Of the one that took 0.3 s nobody knows the age, and the last has been up for too long.
    assert np.flatnonzero(~sure).tolist() == [5, 8]


def test_repeated_frames_are_equal_to_the_last_bit() -> None:
    frames = [np.full((4, 4, 3), value, np.uint8) for value in (1, 1, 2, 2, 2, 3)]
    repeated = repeated_frames(Capture(frames, np.arange(6.0)))
    assert np.flatnonzero(repeated).tolist() == [1, 3, 4]
