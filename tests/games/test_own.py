"""Games that other people bring: by import path, by file, by entry point, by Gymnasium id."""

import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from actswm.controls import Control, Vocabulary
from actswm.data import open_checked
from actswm.errors import UserError
from actswm.game import Game
from actswm.games import own
from actswm.games.branching import branch
from actswm.games.episodes import RecordingPlan
from actswm.games.recording import record
from actswm.games.registry import make_game
from actswm.games.repeatable import require_repeatable

ROVER = Path(__file__).parents[2] / "examples" / "rover" / "rover.py"
SIZE = (16, 16)


class Counter:
    """A game of our own, with what a test wants wrong in it."""

    vocabulary = Vocabulary("counter", (Control("more"), Control("less")))
    fps = 10
    deterministic = True

    def __init__(self, size, wrong=""):
        self.size, self.wrong, self.resets = size, wrong, 0

    def reset(self, *, seed=None):
        self.resets += 1
        self.count = seed % 100 + (self.resets if self.wrong == "memory" else 0)
        return self._frame(), {"telemetry": {"x": self.count}}

    def step(self, action):
        self.count += int(action[0]) - int(action[1])
        if self.wrong == "fault":
            self.count /= 0
        return self._frame(), 0, False, False, {} if self.wrong != "info" else {"telemetry": {"x": "far"}}

    def _frame(self):
        shape = (4, 4, 3) if self.wrong == "shape" else (*self.size, 3)
        return np.full(shape, self.count % 256, float if self.wrong == "dtype" else np.uint8)


def path_of(name):
    return f"{__name__}:{name}"


def test_a_game_is_found_by_module_by_file_and_by_entry_point(monkeypatch):
    counter = make_game(path_of("Counter"), size=SIZE)
    assert isinstance(counter, Game) and counter.name == path_of("Counter") and counter.effective.all()
    frame, info = counter.reset(seed=7)
    assert frame.shape == (16, 16, 3) and (frame == 7).all() and info["events"] == [] and info["seed"] == 7
    rover = make_game(f"{ROVER}:Rover", size=SIZE)
    assert rover.vocabulary.spelling == "rover(forward,back,steer~)"
    point = own.EntryPoint("yard/counter", path_of("Counter"), own.GROUP)
    monkeypatch.setattr(own, "entry_points", lambda group: [point] if group == "actswm.games" else [])
    assert make_game("yard/counter", size=SIZE).name == "yard/counter"
    with pytest.raises(UserError, match="nearest known one is 'yard/counter'"):
        make_game("yard/countr")


ENVIRONMENT = """
import gymnasium
class Env(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}
    action_space, observation_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(1)
    def __init__(self, render_mode=None):
        self.render_mode = render_mode
gymnasium.register("Mine-v0", Env)
"""


@pytest.mark.parametrize(("name", "code"), [("mine:Rover", ROVER.read_text()), ("gym:mine:Mine-v0", ENVIRONMENT)])
def test_a_module_in_the_current_folder_is_found_by_the_installed_command(tmp_path, name, code):
    (tmp_path / "mine.py").write_text(code)
    program = f"from actswm.games.registry import make_game; print(make_game({name!r}).fps)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.strip() == "20.0", done.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent_module:Game", "there is no module 'absent_module'"),
        ("absent.py:Game", "there is no file absent.py"),
        (path_of("Nothing"), "has no 'Nothing'"),
        ("subprocess:Popen", "is no game: it has no reset and step"),
        ("math:pi", "is float, which makes no game"),
        ("gym:Absent-v0", "gym:Absent-v0: Gymnasium cannot make it"),
        ("gym:ALE/Absent-v5", "ALE/Absent-v5"),
    ],
)
def test_what_is_no_game_is_told_in_one_line(name, message):
    with pytest.raises(UserError, match=message):
        make_game(name, size=SIZE)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("shape", r"a frame is uint8 \(16, 16, 3\), as `size` says, not uint8 \(4, 4, 3\)"),
        ("dtype", "not float64"),
        ("info", "telemetry is a flat dict of numbers"),
    ],
)
def test_a_game_is_held_to_the_protocol(wrong, message):
    game = make_game(path_of("Counter"), size=SIZE, wrong=wrong)
    with pytest.raises(UserError, match=message):
        game.reset(seed=1)
        game.step(game.vocabulary.noop())


@pytest.mark.parametrize("workers", [1, 2])
def test_a_fault_in_an_own_game_is_told_with_its_place(tmp_path, workers):
    """And not as a bug of ours, or as a worker that was killed."""
    plan = RecordingPlan(path_of("Counter"), size=SIZE, episode_steps=20, options={"wrong": "fault"})
    with pytest.raises(UserError, match=r"Counter: fails in .*test_own\.py, line \d+ \(ZeroDivisionError: division"):
        record(plan, 60, tmp_path / "out.h5", workers=workers)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def", r"fails in .*wrong\.py, line 1 \(SyntaxError"),
        ("import sys; sys.exit()", r"fails in .*wrong\.py, line 1 \(SystemExit"),
        ("Game = 1 / 0", r"fails in .*wrong\.py, line 1 \(ZeroDivisionError"),
    ],
)
def test_a_file_that_does_not_run_is_told_with_its_place(tmp_path, code, message):
    (tmp_path / "wrong.py").write_text(code)
    with pytest.raises(UserError, match=message):
        make_game(f"{tmp_path / 'wrong.py'}:Game", size=SIZE)


def test_wrong_options_and_actions_are_the_users_error():
    with pytest.raises(UserError, match="colour"):
        make_game(path_of("Counter"), size=SIZE, colour="red")
    game = make_game(path_of("Counter"), size=SIZE, controls=["more"])
    game.reset(seed=5)
    assert (game.step(np.ones(2))[0] == 6).all(), "the other control does nothing"
    with pytest.raises(UserError, match="2 finite numbers"):
        game.step(np.ones(3))


def test_determinism_is_checked_and_not_believed(tmp_path):
    honest = make_game(path_of("Counter"), size=SIZE)
    require_repeatable(honest)
    more = np.tile([1.0, 0.0], (4, 1))
    assert (branch(honest, 3, more, [more]).futures[0].frames[-1] == 11).all()
    liar = RecordingPlan(path_of("Counter"), size=SIZE, episode_steps=40, options={"wrong": "memory"}, branches=1)
    with pytest.raises(UserError, match=r"says that it is deterministic, but step 0 .* the second time"):
        record(liar, 100, tmp_path / "liar.h5")
    assert not (tmp_path / "liar.h5").exists()


def test_an_own_game_records_with_its_vocabulary_and_siblings(tmp_path):
    name = f"{ROVER}:Rover"
    plan = RecordingPlan(name, size=SIZE, episode_steps=60, branches=1)
    record(plan, 150, tmp_path / "rover.h5")
    with open_checked(tmp_path / "rover.h5") as file:
        assert file.vocabulary.spelling == "rover(forward,back,steer~)" and file.source == name
        assert file.num_frames == 150 and file.num_episodes >= 2 and np.isfinite(file.column("pose")[:, :2]).all()
        assert file.action[:, 0].any() and len(np.unique(file.action[:, 2])) > 5
    with pytest.raises(UserError, match="OWAMcap is written of keys and mouse"):
        record(plan, 150, tmp_path / "other.h5", owamcap=tmp_path / "caps")


class Drawn(gymnasium.Env):
    """Shows which action it was given, as the colour of its picture."""

    observation_space = gymnasium.spaces.Box(0, 255, (40, 32, 3), np.uint8)

    def __init__(self, actions, render_mode=None):
        self.action_space, self.render_mode = actions, render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros((40, 32, 3), np.uint8), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.taken = action
        return np.zeros((40, 32, 3), np.uint8), 1.0, False, False, {"lives": 3, "name": "x"}


@pytest.fixture
def drawn():
    gymnasium.register("Drawn-v0", Drawn)
    yield "gym:Drawn-v0"
    del gymnasium.registry["Drawn-v0"]


@pytest.mark.parametrize(
    ("space", "spelling", "pressed", "taken"),
    [
        (gymnasium.spaces.Discrete(3, start=5), "Drawn-v0(a1,a2)", [0, 1], 7),
        (gymnasium.spaces.MultiDiscrete([2, 3]), "Drawn-v0(0.1,1.1,1.2)", [1, 0, 1], [1, 2]),
        (gymnasium.spaces.MultiBinary(3), "Drawn-v0(b0,b1,b2)", [1, 0, 1], [1, 0, 1]),
        (gymnasium.spaces.Box(-2, 2, (2,), np.float32), "Drawn-v0(a0~,a1~)", [1.5, -9], [1.5, -2]),
    ],
)
def test_every_kind_of_action_can_be_played(drawn, space, spelling, pressed, taken):
    game = make_game(drawn, size=SIZE, actions=space)
    assert game.vocabulary.spelling == spelling
    frame, _ = game.reset(seed=0)
    assert frame.shape == (16, 16, 3)
    for action in (game.vocabulary.noop(), game.random_action(np.random.default_rng(0)), np.array(pressed)):
        *_, info = game.step(action)
    np.testing.assert_allclose(game.game._env.unwrapped.taken, taken)
    assert info["telemetry"] == {"lives": 3.0, "score": 3.0} and info["events"][0]["name"] == "reward"


def test_an_environment_of_gymnasium_is_a_game_that_can_branch(tmp_path):
    game = make_game("gym:CartPole-v1", size=32)
    assert game.vocabulary.spelling == "CartPole-v1(a1)" and game.fps == 50
    require_repeatable(game)
    frame, _ = game.reset(seed=0)
    assert frame.shape == (32, 32, 3) and frame.std() > 1, "the cart is drawn"
    record(RecordingPlan("gym:CartPole-v1", size=(32, 32), behaviour="random", episode_steps=30), 60, tmp_path / "c.h5")


def test_the_game_of_a_stranger_s_package_knows_its_actions_by_name():
    pytest.importorskip("minigrid")
    game = make_game("gym:minigrid:MiniGrid-Empty-8x8-v0", size=32)
    assert game.vocabulary.names == ("left", "right", "forward", "pickup", "drop", "toggle")
    require_repeatable(game)
