from __future__ import annotations

import numpy as np
import pytest

from actswm.controls import KEYS14, MINECRAFT
from actswm.errors import UserError
from actswm.games import make_game
from actswm.games.behaviour import Explorer, Noisy, RandomKeys, make_behaviour

ALL = np.ones(KEYS14.size, bool)
FRAME = np.zeros((8, 8, 3), np.uint8)


def info(x: float = 0.0, y: float = 0.0) -> dict:
    return {"events": [], "telemetry": {"x": x, "y": y, "z": 0.0}}


def play(behaviour, steps: int, speed: float = 10.0) -> np.ndarray:
    """Actions in a field without walls."""
    actions, x = [], 0.0
    for _ in range(steps):
        actions.append(behaviour.act(FRAME, info(x)))
        x += speed * actions[-1][:4].any()
    return np.array(actions)


def test_the_explorer_uses_every_control_and_none_too_much():
    actions = play(Explorer(np.random.default_rng(0), ALL), 20_000)
    assert set(np.unique(actions)) == {0.0, 1.0}
    share = actions.mean(0)
    assert share.min() > 0.01 and share.max() < 0.60, dict(zip(KEYS14.names, share))


def test_no_control_is_the_shadow_of_another():
    actions = np.concatenate([play(Explorer(np.random.default_rng(seed), ALL), 800) for seed in range(30)])
    correlation = np.corrcoef(actions.T) - np.eye(KEYS14.size)
    assert np.abs(correlation).max() < 0.5


def test_opposite_keys_are_never_down_together_and_looking_returns_to_level():
    actions = play(Explorer(np.random.default_rng(1), ALL), 5_000)
    pressed = dict(zip(KEYS14.names, actions.T.astype(bool)))
    for one, other in ("WS", "AD", ("Turn_L", "Turn_R"), ("Look_U", "Look_D")):
        assert not (pressed[one] & pressed[other]).any()
    level = np.cumsum(pressed["Look_U"].astype(int) - pressed["Look_D"].astype(int))
    assert np.abs(level).max() <= 11


def test_the_explorer_turns_when_stuck():
    def turning(speed: float) -> float:
        actions = play(Explorer(np.random.default_rng(2), ALL), 3_000, speed)
        return actions[:, 10:12].any(1).mean()

    assert turning(0.0) > turning(10.0) + 0.15


def test_disabled_controls_stay_up():
    enabled = KEYS14.action(["W", "Turn_L"]) > 0
    for behaviour in (
        Explorer(np.random.default_rng(3), enabled),
        RandomKeys(np.random.default_rng(3), KEYS14, enabled),
    ):
        actions = play(behaviour, 500, speed=0.0)
        assert actions[:, enabled].any(0).all() and not actions[:, ~enabled].any()


def test_random_keys_hold_for_a_model_step_and_move_cameras():
    behaviour = RandomKeys(np.random.default_rng(4), MINECRAFT, np.ones(MINECRAFT.size, bool))
    actions = play(behaviour, 400)
    assert (actions.reshape(100, 4, -1) == actions[::4, None]).all()
    assert np.abs(actions[:, MINECRAFT.index("yaw")]).max() > 3
    assert set(np.unique(actions[:, MINECRAFT.binary])) == {0.0, 1.0}


def test_noise_takes_its_share():
    class Still:
        def act(self, frame, info):
            return KEYS14.noop()

    class Loud:
        def act(self, frame, info):
            return np.ones(KEYS14.size, np.float32)

    actions = play(Noisy(Still(), Loud(), 4, np.random.default_rng(5), share=0.2), 20_000)
    assert 0.15 < actions[:, 0].mean() < 0.25


def test_an_unknown_behaviour_is_the_users_error():
    game = make_game("freedoom/room")
    with pytest.raises(UserError, match=r"unknown behaviour 'fly'.*explorer"):
        make_behaviour("fly", game, np.random.default_rng())
