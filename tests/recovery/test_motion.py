import numpy as np
import pytest

from actswm.controls import KEYS14, MINECRAFT
from actswm.errors import UserError
from actswm.recovery.motion import LOOKS, MotionGrid, MotionMeter, mirror
from actswm.recovery.motion_training import opposite

from .panning import panorama

GRID = MotionGrid(64)


def shifted(dy: int, dx: int, count: int = 4) -> np.ndarray:
    world = panorama()
    return np.stack([np.roll(world, (i * dy, i * dx), (0, 1))[:64, :64] for i in range(count)])


@pytest.mark.parametrize(("dy", "dx"), [(0, 3), (-2, 0), (1, -2)])
def test_flow_is_the_pictures_own_shift(dy, dx):
    rows = MotionMeter(GRID).measure(shifted(dy, dx))
    assert rows.shape == (3, GRID.size)
    inside = rows[:, : GRID.flow_size].reshape(3, 8, 8, 2)[:, 2:-2, 2:-2]
    assert np.allclose(inside.mean((0, 1, 2)), (dx, dy), atol=0.3)


def test_pieces_give_what_the_whole_gives():
    video, meter = shifted(1, 2, 7), MotionMeter(GRID)
    pieces = np.concatenate([meter.measure(video[:3]), meter.measure(video[3:4]), meter.measure(video[4:])])
    assert np.array_equal(pieces, MotionMeter(GRID).measure(video))


def test_the_mirror_is_that_of_the_mirrored_video():
    video = shifted(1, 2)
    order, signs = mirror(GRID)
    turned = MotionMeter(GRID).measure(video)[:, order] * signs
    truly = MotionMeter(GRID).measure(np.ascontiguousarray(video[:, :, ::-1]))
    colours = slice(GRID.flow_size, GRID.size - LOOKS)
    assert np.allclose(turned[:, colours], truly[:, colours], atol=1 / 64 + 1e-6)
    assert np.abs(turned - truly)[:, : GRID.flow_size].mean() < 0.1


def test_left_and_right_change_places():
    order, signs = opposite(KEYS14)
    assert KEYS14.pressed(KEYS14.action(["A", "Turn_R", "W"])[order] * signs) == ("W", "D", "Turn_L")
    order, signs = opposite(MINECRAFT)
    turned = MINECRAFT.action(["left"], {"yaw": 3.0, "pitch": 2.0})[order] * signs
    assert np.array_equal(turned, MINECRAFT.action(["right"], {"yaw": -3.0, "pitch": 2.0}))


def test_frames_too_small_for_flow_are_refused():
    with pytest.raises(UserError, match="32 to"):
        MotionGrid(16)
