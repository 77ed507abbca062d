import numpy as np
import pytest

from actswm.errors import UserError
from actswm.games.freedoom.rooms import Rooms
from actswm.games.registry import make_game


def test_an_explorer_is_always_in_a_room_and_walks_from_one_to_the_next():
    """The maze has 18: nine rooms and the passages between them."""
    rooms = Rooms.of("maze")
    assert len(rooms.borders) == 18
    game, places = make_game("freedoom/maze", size=(32, 32)), []
    try:
        for seed in range(6):
            _, info = game.reset(seed=seed)
            forward = game.vocabulary.action(["W"])
            for _ in range(40):
                places.append([info["telemetry"]["x"], info["telemetry"]["y"]])
                info = game.step(forward)[4]
    finally:
        game.close()
    found = rooms.at(np.array(places))
    assert (found >= 0).all() and len(set(found.tolist())) > 3
    assert rooms.at(np.array([[0.0, 0.0], [np.nan, 1.0]])).tolist() == [-1, -1]
    assert rooms.at(np.array([240.0, -200.0])) == rooms.at(np.array([300.0, -100.0]))


def test_worlds_of_many_maps_have_no_rooms_of_their_own():
    with pytest.raises(UserError, match="name a world of one map"):
        Rooms.of("maps")
