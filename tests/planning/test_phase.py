import pytest
import torch

from actswm.errors import UserError
from actswm.planning.phase import AHEAD, Phase

LINE = torch.arange(10.0)[:, None] * torch.ones(1, 3)
"""A reference that walks along a line, one step a frame."""


def seen(phase, *places):
    return [phase.after(torch.full((3,), float(place))) for place in places]


def test_the_clock_hears_nothing_of_what_is_seen():
    assert seen(Phase(LINE), 0, 0, 0, 7) == [0, 1, 2, 3]


def test_by_sight_an_episode_that_is_behind_waits():
    assert seen(Phase(LINE, "sight"), -4, -3, -2, -1, 0, 1, 2, 3) == [0, 0, 0, 0, 0, 1, 2, 3]


def test_it_moves_on_by_a_few_frames_at_the_most_and_never_back():
    assert seen(Phase(LINE, "sight"), 0, 8, 8, 2, 9, 9) == [0, AHEAD, 2 * AHEAD, 2 * AHEAD, 8, 9]


def test_where_all_frames_look_alike_it_is_a_clock():
    assert seen(Phase(torch.zeros(6, 3), "sight"), 0, 0, 0, 0) == [0, 1, 2, 3]


def test_an_unknown_phase_is_refused():
    with pytest.raises(UserError, match="clock, sight"):
        Phase(LINE, "feeling")
