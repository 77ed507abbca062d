"""Games that other people bring, played in the browser with keys of their own."""

from pathlib import Path

import numpy as np
import pytest

from actswm.controls import Control, Vocabulary
from actswm.data import DatasetFile, validate
from actswm.errors import UserError
from actswm.games.registry import make_game
from actswm.play.bindings import browser_bindings
from actswm.play.hands import Hands, Report
from actswm.play.messages import lanes_of
from actswm.play.own_keys import key_map_of

from ..cli.test_plan import actswm
from .running import playing
from .test_session import rendered_again

ROVER = f"{Path(__file__).parents[2] / 'examples' / 'rover' / 'rover.py'}:Rover"


def test_a_game_says_its_keys_and_continuous_controls_have_two():
    game = make_game(ROVER, size=16)
    key_map = key_map_of(game)
    bindings = browser_bindings(key_map)
    assert bindings["forward"] == ("KeyW", "ArrowUp") and bindings["-steer"] == ("KeyA", "ArrowLeft")
    assert not {"-x", "+y"} & set(bindings), "no camera: the arrows belong to the game"
    assert [lane.codes for lane in lanes_of(game, key_map)] == [("KeyW",), ("KeyS",), ("KeyA", "KeyD")]
    hands = Hands(key_map, game.effective)
    hands.report(Report(frozenset({"forward", "-steer"})))
    np.testing.assert_array_equal(hands.take(), [1, 0, -6])


class Made:
    """Only what `key_map_of` looks at."""

    name = "made"

    def __init__(self, controls, **more):
        self.vocabulary = Vocabulary("made", tuple(controls))
        self.__dict__.update(more)


def test_who_says_nothing_is_given_keys_and_nobody_has_anothers():
    names = [Control(f"a{i}") for i in range(20)] + [Control("Left"), Control("gas", False), Control("b", False)]
    key_map = key_map_of(Made(names))
    assert key_map.bindings["Left"] == ("A", "Left") and key_map.bindings["a0"] == ("Space",)
    keys = [key for keys in key_map.bindings.values() for key in keys]
    keys += [key for pair in key_map.pairs.values() for side in pair for key in side]
    assert len(set(keys)) == len(keys) and len(key_map.pairs) == 2
    with pytest.raises(UserError, match="unknown input 'Paddle'"):
        key_map_of(Made([Control("go")], keys={"go": ("Paddle",)}))
    with pytest.raises(UserError, match="unknown control 'fly'"):
        key_map_of(Made([Control("go")], keys={"fly": ("W",)}))
    many = key_map_of(Made([Control(f"c{i}") for i in range(80)]))
    assert many.bindings["c79"] == ()


def test_an_environment_that_nobody_here_wrote_records_trains_and_is_played(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    game = "gym:CartPole-v1"
    record = ("record", game, "--size", "16", "--episode-steps", "60", "--steps", "600", "--out", "cart.h5")
    train = ("train", "tiny/actswm", "model.image_size=16", "training.steps=3", "training.threads=1", "--quiet")
    train += ("model.frameskip=1",)  # the pole falls within a second
    for command in (record, (*train, "--data", "cart.h5", "--out", "run")):
        code, _, err = actswm(monkeypatch, capsys, *command)
        assert not code, err
    imagining = ("--model", "run/model", "--data", "cart.h5", "--gallery", "50", "--steps", "1")
    with playing(tmp_path, game, *imagining, "--record", "played.h5") as session, session.watching() as stream:
        about = stream.wait("about")
        assert about["bindings"] == {"a1": ["Space"]} and about["game"] == game
        stream.wait("moment")
        assert session.post("input", held=["a1"]) == 204
        assert session.post("clock", running=True) == 204
        stream.wait("moment", lambda moment: moment["action"] == [1.0])
        stream.wait("imagined")
        session.interrupt()
    validate("played.h5")
    with DatasetFile("played.h5") as file:
        assert file.source == game and file.action.any()
        assert np.array_equal(rendered_again(file, 0), file.frames(slice(0, int(file.ep_len[0]))))
