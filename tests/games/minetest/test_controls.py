"""Raw actions become keys and pixels: nothing is lost to rounding, and the pitch stops where the engine's does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actswm.controls import KEYS14, MINECRAFT
from actswm.games.minetest.controls import TURN_DEGREES, Hands
from actswm.games.minetest.settings import DEGREES_PER_PIXEL, KEYS, PITCH_LIMIT

degrees = st.floats(-180, 180, allow_nan=False)


@given(st.lists(st.tuples(degrees, degrees), max_size=40))
def test_pixels_add_up_to_the_camera_within_half_a_pixel(moves: list[tuple[float, float]]) -> None:
    hands = Hands(MINECRAFT)
    right = down = 0
    yaw = pitch = 0.0
    for move_pitch, move_yaw in moves:
        motion = hands.act(MINECRAFT.action(values={"pitch": move_pitch, "yaw": move_yaw}))[1]
        right, down = right + motion[0], down + motion[1]
        yaw += float(np.float32(move_yaw))
        pitch = min(max(pitch + float(np.float32(move_pitch)), -PITCH_LIMIT), PITCH_LIMIT)
    assert right * DEGREES_PER_PIXEL == pytest.approx(yaw, abs=0.6 * DEGREES_PER_PIXEL)
    assert down * DEGREES_PER_PIXEL == pytest.approx(pitch, abs=0.6 * DEGREES_PER_PIXEL)


@given(st.lists(st.sets(st.sampled_from(KEYS14.names)), max_size=20))
def test_keys_are_down_exactly_while_their_control_is(presses: list[set[str]]) -> None:
    hands = Hands(KEYS14)
    down: set[int] = set()

    def follow(changes: list[tuple[int, bool]]) -> None:
        for key, pressed in changes:
            assert pressed == (key not in down)  # each change is one
            down.symmetric_difference_update({key})

    keys = {"W": "forward", "Fire": "dig", "Aim": "place", "Jump": "jump", "Shift": "sneak"}
    for pressed in presses:
        follow(hands.act(KEYS14.action(pressed))[0])
        for control, action in keys.items():
            assert (ord(KEYS[action]) in down) == (control in pressed)
    follow(hands.release())
    assert not down


def test_opposite_turns_cancel() -> None:
    hands = Hands(KEYS14)
    assert hands.act(KEYS14.action(["Turn_L", "Turn_R", "Look_U", "Look_D"]))[1] == (0, 0)
    assert hands.act(KEYS14.action(["Turn_L"]))[1] == (round(-TURN_DEGREES / DEGREES_PER_PIXEL), 0)


def test_no_two_actions_share_a_key() -> None:
    assert len(set(KEYS.values())) == len(KEYS)
