"""From what hands do to raw actions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actswm.controls import KEYS14, MINECRAFT
from actswm.errors import UserError
from actswm.formats.keymap import MINECRAFT_KEYS, SHOOTER_KEYS
from actswm.play.bindings import browser_bindings, lane_codes
from actswm.play.hands import MOST_OWED, PIXELS_A_TURN, Hands, Report

ALL = np.ones(KEYS14.size, bool)


def report(*held, tapped=(), dx=0.0, dy=0.0):
    return Report(frozenset(held), frozenset(tapped), dx, dy)


def pressed(hands):
    return KEYS14.pressed(hands.take())


def test_held_keys_stay_down_and_a_tap_lasts_one_step():
    hands = Hands(SHOOTER_KEYS, ALL)
    hands.report(report("W", "Shift"))
    hands.report(report("W", tapped=["Fire"]))
    assert pressed(hands) == ("W", "Fire")
    assert pressed(hands) == ("W",)
    hands.report(report("-x"))
    assert pressed(hands) == ("Turn_L",)
    hands.release()
    assert pressed(hands) == ()


def test_controls_that_do_nothing_are_not_recorded():
    hands = Hands(SHOOTER_KEYS, KEYS14.action(["W", "Turn_L"]) > 0)
    hands.report(report("W", "Shift", tapped=["Fire"], dx=PIXELS_A_TURN))
    assert pressed(hands) == ("W",)
    assert KEYS14.pressed(hands.holding()[-1]) == ("W",)


def test_unknown_inputs_are_refused():
    with pytest.raises(UserError, match="unknown input 'Fly'"):
        Hands(SHOOTER_KEYS, ALL).report(report("Fly"))


@given(st.lists(st.floats(-60, 60), max_size=30))
def test_turns_follow_the_mouse_and_stop_with_it(motions):
    """Where the mouse is not faster than the game can turn, the turns add up to its way, to half a turn."""
    hands, turned, way = Hands(SHOOTER_KEYS, ALL), 0, 0.0
    for dx in motions:
        dx = float(np.clip(dx, -PIXELS_A_TURN, PIXELS_A_TURN))
        way += dx
        hands.report(report(dx=dx))
        names = pressed(hands)
        assert len(names) <= 1
        turned += {"Turn_R": 1, "Turn_L": -1}[names[0]] if names else 0
    assert abs(turned * PIXELS_A_TURN - way) <= PIXELS_A_TURN / 2 + 1e-6
    hands.report(report(dx=10_000.0))
    most = round(MOST_OWED / PIXELS_A_TURN) + 1
    assert [pressed(hands) for _ in range(most + 5)].count(("Turn_R",)) <= most


@given(st.lists(st.integers(-150, 150), min_size=1, max_size=8))
def test_the_view_ends_where_the_mouse_points_however_the_game_turns(motions):
    """Like Freedoom's: slowly while Turn is pressed for five steps, and four times as fast from then on."""
    hands, yaw, held = Hands(SHOOTER_KEYS, ALL), 100.0, {"Turn_L": 0, "Turn_R": 0}
    degrees = SHOOTER_KEYS.degrees_per_count

    def step():
        nonlocal yaw
        names = pressed(hands)
        for name, direction in (("Turn_L", 1), ("Turn_R", -1)):
            held[name] = held[name] + 1 if name in names else 0
            yaw += direction * (0 if not held[name] else 1.76 if held[name] <= 5 else 7.03)
        hands.saw({"yaw": yaw % 360})

    hands.begin({"yaw": yaw})
    hands.report(report(dx=300.0))  # while it turns, it is seen how
    for _ in range(30):
        step()
    wanted = yaw
    for dx in motions:
        hands.report(report(dx=dx))
        wanted -= dx * degrees
        for _ in range(30):
            step()
        assert abs(yaw - wanted) < 1.76
    before = yaw
    step()
    assert yaw == before, "and stands still there"


def test_a_continuous_camera_moves_by_degrees():
    hands = Hands(MINECRAFT_KEYS, np.ones(MINECRAFT.size, bool))
    hands.report(report("forward", dx=100.0, dy=-40.0))
    action = hands.take()
    scale = MINECRAFT_KEYS.degrees_per_count
    expected = MINECRAFT.action(["forward"], {"yaw": 100 * scale, "pitch": -40 * scale})
    np.testing.assert_allclose(action, expected, rtol=1e-6)
    assert MINECRAFT.pressed(hands.take()) == ("forward",)
    hands.report(report("-x"))
    assert hands.take()[MINECRAFT.index("yaw")] < 0


def test_holding_repeats_keys_and_the_mouse_of_the_last_steps():
    hands = Hands(SHOOTER_KEYS, ALL, recent=4)
    hands.report(report("W", dx=PIXELS_A_TURN))
    hands.take()
    hands.report(report("A"))
    rows = hands.holding()
    assert [KEYS14.pressed(row) for row in rows] == [("A",), ("A",), ("A",), ("A", "Turn_R")]
    for _ in range(4):
        hands.take()
    assert (hands.holding() == KEYS14.action(["A"])).all()


@pytest.mark.parametrize(
    "key_map", [SHOOTER_KEYS, MINECRAFT_KEYS], ids=lambda key_map: key_map.vocabulary.name
)
def test_every_control_has_a_key_that_the_browser_leaves_to_us(key_map):
    codes = [code for codes in browser_bindings(key_map).values() for code in codes]
    assert len(codes) == len(set(codes)), "one key, one meaning"
    assert not [code for code in codes if code.startswith(("Control", "Alt", "Meta"))]
    for index in range(key_map.vocabulary.size):
        assert set(lane_codes(key_map, index)) <= set(codes) and lane_codes(key_map, index)
