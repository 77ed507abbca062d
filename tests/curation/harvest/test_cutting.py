"""Times, bars, holes and scenes: what a stream is, and where it is cut."""

from __future__ import annotations

from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from actswm.curation.harvest.look import look
from actswm.curation.harvest.scenes import CutFinder, pieces
from actswm.curation.harvest.settings import CutRules
from actswm.curation.harvest.timeline import read_timeline
from actswm.curation.harvest.trouble import Trouble, one_line

from .made_streams import write_video


def world(seed: int) -> np.ndarray:
    """A wide panorama to turn in."""
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 256, (12, 120, 3), np.uint8)
    return cv2.resize(small, (1600, 90), interpolation=cv2.INTER_CUBIC)


def found(frames: list[np.ndarray]) -> list[int]:
    finder = CutFinder(CutRules())
    for index, frame in enumerate(frames):
        finder.feed(index, frame, cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY))
    return finder.finish()


def view(panorama: np.ndarray, x: int) -> np.ndarray:
    return np.ascontiguousarray(panorama[:, x : x + 160])


def test_a_hard_cut_is_found_at_its_frame():
    left, right = world(1), world(2)
    assert found([view(left, i) for i in range(40)] + [view(right, i) for i in range(40)]) == [40]


@pytest.mark.parametrize("pixels", [20, 45, 60])
def test_a_flick_of_the_mouse_is_no_cut(pixels):
    """Up to more than a third of the picture in one frame, out of rest."""
    panorama = world(3)
    frames = [view(panorama, i) for i in range(30)]
    frames += [view(panorama, 30 + pixels * (k + 1)) for k in range(2)]
    frames += [view(panorama, 30 + 2 * pixels + i) for i in range(30)]
    assert found(frames) == []


def test_a_flash_is_no_cut():
    panorama = world(4) // 4
    frames = [view(panorama, i) for i in range(60)]
    for index in (30, 31):
        frames[index] = cv2.add(frames[index], np.full_like(frames[index], 120))
    assert found(frames) == []


def test_a_fade_through_black_is_one_joint():
    left, right = world(5), world(6)
    out = [(view(left, i) * (1 - i / 15)).astype(np.uint8) for i in range(16)]
    back = [(view(right, i) * (i / 15)).astype(np.uint8) for i in range(16)]
    frames = [view(left, i) for i in range(30)] + out + back + [view(right, i) for i in range(30)]
    cuts = found(frames)
    assert cuts and all(30 <= cut <= 62 for cut in cuts)


def test_a_cut_behind_a_still_screen_is_found():
    """The death screen came shortly before in pictures that change, and nothing moved since."""
    left, dead, right = world(8), world(9), world(10)
    frames = (
        [view(left, 2 * i) for i in range(30)]
        + [view(dead, 0)] * 40
        + [view(right, 9 * i) for i in range(30)]
    )
    assert found(frames) == [30, 70]


def test_a_shot_that_lights_up_a_turn_is_no_cut():
    """The picture is shifted by a quarter, and lit in places: neither it nor its light comes back."""
    panorama = cv2.GaussianBlur(world(11), (0, 0), 2) // 4
    y, x = np.mgrid[:90, :160]
    light = (80 * (1 + np.sin(x / 25) * np.cos(y / 25)))[..., None]
    frames = [view(panorama, i) for i in range(30)]
    frames += [(view(panorama, 70 + 3 * i) + light).clip(0, 255).astype(np.uint8) for i in range(30)]
    assert found(frames) == []


def test_a_jump_of_the_horizon_under_an_empty_sky_is_no_cut():
    ground = world(12)

    def under(sky: int, x: int) -> np.ndarray:
        picture = np.full((90, 160, 3), 200, np.uint8)
        picture[sky:] = view(ground, x)[sky:]
        return picture

    assert found([under(60, i) for i in range(30)] + [under(76, 300 + i) for i in range(30)]) == []


def test_pictures_that_are_shown_twice_make_no_cuts():
    """30 pictures a second in a video of 60."""
    panorama = world(7)
    assert found([view(panorama, 3 * (i // 2)) for i in range(80)]) == []


def test_long_scenes_are_split_evenly():
    assert pieces(0, 250, 25.0, 10.0) == [(0, 83), (83, 167), (167, 250)]
    assert pieces(10, 110, 10.0, 10.0) == [(10, 110)]


@pytest.mark.parametrize("mark", [None, (4, 12)])
@pytest.mark.parametrize("bars", [(0, 0), (24, 0), (0, 40)])
def test_bars_are_found_not_assumed(tmp_path, bars, mark):
    """Also where there is a logo in them."""
    timeline = read_timeline(write_video(tmp_path / "v.mp4", 40, bars=bars, mark=mark), 1.0)
    rows, columns = bars
    assert timeline.crop == (rows, 180 + rows, columns, 320 + columns)
    assert timeline.audio and timeline.codec == "h264" and not timeline.variable


def test_a_hole_ends_a_scene_and_is_not_counted(tmp_path):
    pts = [*range(60), *range(150, 210)]
    path = write_video(tmp_path / "v.mp4", 120, scene_frames=500, pts=pts)
    timeline = read_timeline(path, 1.0)
    tick = float(timeline.tick)
    [(before, after)] = timeline.holes
    assert (before * tick, after * tick) == pytest.approx((59 / 30, 5.0), abs=1e-3)
    assert timeline.seconds == pytest.approx(4.0, abs=0.1)
    seen = look(timeline, CutRules(), 2.0, tmp_path / "s.zip", lambda seconds: None)
    assert seen.cuts.tolist() == [60]


def test_damaged_pictures_are_told(tmp_path):
    path = write_video(tmp_path / "v.mp4", 120, scene_frames=500)
    with av.open(str(path)) as container:
        place = [packet.pos for packet in container.demux(video=0) if packet.pos is not None][60]
    data = bytearray(path.read_bytes())
    data[place : place + 4] = b"\xff\xff\xff\xff"  # the length of what follows: it cannot be decoded
    path.write_bytes(data)
    seen = look(read_timeline(path, 1.0), CutRules(), 2.0, tmp_path / "s.zip", lambda seconds: None)
    assert len(seen.damaged) == len(seen.pts) < 120
    assert seen.damaged[56:].any() and not seen.damaged[:48].any() and not seen.damaged[-24:].any()


def test_variable_rates_are_told(tmp_path):
    rng = np.random.default_rng(0)
    pts = np.cumsum(rng.integers(1, 4, 80)).tolist()
    assert read_timeline(write_video(tmp_path / "v.mp4", 80, pts=pts), 1.0).variable


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "empty"), (b"no video at all" * 99, "broken")], ids=["empty", "broken"]
)
def test_what_is_no_video_is_told_by_reason(tmp_path: Path, content: bytes, reason: str):
    path = tmp_path / "v.mp4"
    path.write_bytes(content)
    with pytest.raises(Trouble) as told, one_line("v"):
        read_timeline(path, 1.0)
    assert told.value.reason == reason and "\n" not in str(told.value)
