from __future__ import annotations

import numpy as np

from actswm.controls import KEYS14
from actswm.curation.replay.controls import frame_controls
from actswm.formats.replay import Track


def track_of(**columns: object) -> Track:
    ticks = 10
    rows = {
        "slot": 1,
        "tick": np.arange(100, 100 + ticks),
        "alive": np.ones(ticks, bool),
        "yaw": np.zeros(ticks, np.float32),
        "pitch": np.zeros(ticks, np.float32),
        "pressed": np.zeros((ticks, KEYS14.size), bool),
        **columns,
    }
    return Track(**rows)  # type: ignore[arg-type]


def names(action: np.ndarray) -> list[tuple[str, ...]]:
    return [KEYS14.pressed(row) for row in action]


def test_an_action_is_what_leads_to_the_next_frame() -> None:
    pressed = np.zeros((10, KEYS14.size), bool)
    pressed[3, KEYS14.index("W")] = True  # the input that led to tick 103
    action, known = frame_controls(track_of(pressed=pressed), np.arange(100, 110), 1)
    assert names(action) == [()] * 2 + [("W",)] + [()] * 7
    assert known.tolist() == [True] * 9 + [False]
    every_second, _ = frame_controls(track_of(pressed=pressed), np.arange(100, 110, 2), 2)
    assert names(every_second) == [(), ("W",), (), (), ()]


def test_the_camera_follows_from_the_view_angles_across_the_circle() -> None:
    yaw = np.array([358, 359, 1, 1, 359, 359, 359, 359, 359, 359], np.float32)
    pitch = np.array([0, 0, 0, 2, 2, 1, 1.1, 1.1, 1.1, 1.1], np.float32)
    action, _ = frame_controls(track_of(yaw=yaw, pitch=pitch), np.arange(100, 106), 1)
    assert names(action) == [("Turn_L",), ("Turn_L",), ("Look_D",), ("Turn_R",), ("Look_U",), ()]


def test_what_the_demo_does_not_say_is_not_made_up() -> None:
    action, known = frame_controls(track_of(pressed=None), np.arange(100, 105), 1)
    assert not known.any() and not action.any()
    _, known = frame_controls(track_of(), np.array([50, 99, 105, 300]), 1)
    assert known.tolist() == [False, False, True, False]
