"""Frames that come unevenly become steps at a fixed rate; without `--fps` the file says the true mean rate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actswm.controls import KEYS14
from actswm.curation.domains import domain_of
from actswm.curation.frames import nominal_fps
from actswm.curation.resampling import require_rate, resampled
from actswm.curation.run import RunOptions, clean
from actswm.curation.settings import CleanSettings
from actswm.curation.sources import find_items
from actswm.data import DatasetFile, validate
from actswm.errors import UserError
from actswm.formats.keymap import VIRTUAL_KEYS
from actswm.formats.owamcap import messages
from actswm.formats.video import decode

from ..made.recordings import MS, MadeRecording

GAP = 150 * MS
SETTINGS = CleanSettings(domain_of("games"), height=48, width=48, judge="none")


def uneven(folder: Path) -> MadeRecording:
    """Steps of 7 to 140 ms: bursts at 50 frames a second and pauses."""
    made = MadeRecording(folder, frames=120)
    steps = np.random.default_rng(3).choice([7, 20, 20, 20, 60, 140], 119)
    made.pts_ms = [0, *np.cumsum(steps).tolist()]
    return made


def test_steps_are_even_and_keys_are_held_over_them(tmp_path) -> None:
    made = uneven(tmp_path).key(1005, VIRTUAL_KEYS["W"], True).key(1010, VIRTUAL_KEYS["W"], False)
    made.key(2000, VIRTUAL_KEYS["A"], True).key(2400, VIRTUAL_KEYS["A"], False)
    for ms in range(3000, 3050, 10):  # 2 px each, 10 px in the step
        made.at(ms, messages.RAW_MOUSE, {"last_x": 2, "last_y": 0})
    path = made.write()
    clean(find_items("owamcap", [path]), tmp_path / "out.h5", replace(SETTINGS, fps=20.0), RunOptions())
    validate(tmp_path / "out.h5")
    pictures = {frame.pts_ns: frame.rgb(48, 48) for frame in decode(path.with_suffix(".mkv"))}
    with DatasetFile(tmp_path / "out.h5") as file:
        shown = file.column("pts_ns")
        grid = np.arange(file.num_frames) * 50 * MS
        assert file.fps == 20.0 and file.num_frames == made.pts_ms[-1] // 50 + 1
        true = np.array(made.pts_ms) * MS
        assert all(abs(time - step) == np.abs(true - step).min() for time, step in zip(shown, grid))
        for row in range(file.num_frames):
            np.testing.assert_array_equal(file.pixels[row], pictures[int(shown[row])])
        pressed = {name: np.flatnonzero(file.action[:, KEYS14.index(name)]).tolist() for name in KEYS14.names}
    assert pressed["W"] == [20] and pressed["A"] == list(range(40, 48)) and pressed["Turn_R"] == [60]


def test_without_it_the_file_says_the_mean_rate_and_the_run_says_so(tmp_path) -> None:
    path = uneven(tmp_path).write()
    report = clean(find_items("owamcap", [path]), tmp_path / "out.h5", SETTINGS, RunOptions())
    with DatasetFile(tmp_path / "out.h5") as file:
        seconds = (file.column("pts_ns")[-1] - file.column("pts_ns")[0]) / 1e9
        assert file.fps == pytest.approx((file.num_frames - 1) / seconds, abs=0.01) and file.fps < 30
    assert any("unevenly" in note for note in report.recordings[0].notes)


def test_a_rate_whose_steps_are_gaps_is_refused() -> None:
    require_rate(7, GAP)
    with pytest.raises(UserError, match="--fps 6: steps of over 150 ms count as gaps; use 7 or more"):
        require_rate(6, GAP)


@given(st.lists(st.integers(-50, 400), min_size=1, max_size=60), st.sampled_from([7.0, 20.0, 29.97, 60.0]))
def test_resampled_times_stay_inside_their_run(intervals_ms, fps) -> None:
    pts_ns = np.cumsum(intervals_ms).astype(np.int64) * MS
    steps, shown = resampled(pts_ns, fps, GAP)
    assert (np.diff(steps) > 0).all() and (np.diff(shown) >= 0).all() and set(shown) <= set(pts_ns)
    forward = pts_ns[pts_ns > np.append(-(2**62), np.maximum.accumulate(pts_ns)[:-1])]
    assert all(abs(a - b) == np.abs(forward - a).min() for a, b in zip(steps, shown))
    assert (np.abs(steps - shown) <= GAP // 2).all()
    same = np.diff(steps) <= round(1e9 / fps) + 1
    assert (same | (np.diff(steps) > GAP)).all()


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=30))
def test_every_video_has_a_rate(times) -> None:
    assert nominal_fps(np.array(times, np.int64)) > 0
