"""Minetest against the real engine: every control, both vocabularies, events, starts, repeatability."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from actswm.controls import KEYS14, MINECRAFT, Vocabulary
from actswm.errors import UserError
from actswm.game import Frame, Game
from actswm.games.episodes import RecordingPlan
from actswm.games.minetest.settings import PITCH_LIMIT
from actswm.games.minetest.world import FLOOR, ground
from actswm.games.registry import make_game

pytestmark = pytest.mark.usefixtures("minetest_installed")

ROOM = {
    "position": (0.0, FLOOR + 0.5, 0.0),
    "yaw": 0.0,
    "inventory": ("default:pick_steel", "default:dirt 9", "default:torch 9"),
    "boxes": (*ground("default:dirt_with_grass"), (-3, FLOOR + 1, 3, 3, FLOOR + 4, 3, "default:stone")),
}
"""A stone wall three nodes ahead, and nothing else."""
RUN = 10
Outcome = tuple[dict[str, float], list[dict[str, Any]], Frame]


@pytest.fixture(scope="module", params=[KEYS14, MINECRAFT], ids=lambda vocabulary: vocabulary.name)
def game(request: pytest.FixtureRequest) -> Iterator[Game]:
    with contextlib.closing(make_game("minetest/arena", vocabulary=request.param.name)) as game:
        yield game


def play(game: Game, *steps: tuple[dict[str, float], int], **start: Any) -> Outcome:
    """Telemetry and frame after the last step, and all events; each step is held for some raw steps."""
    game.reset(seed=0, options={**ROOM, **start})
    events = []
    for controls, times in (*steps, ({}, 1)):
        for _ in range(times):
            frame, _, _, _, info = game.step(game.vocabulary.action(values=controls))
            events += info["events"]
    return info["telemetry"], events, frame


def moved(axis: str, least: float) -> Callable[[Outcome, Outcome], bool]:
    return lambda rest, run: (run[0][axis] - rest[0][axis]) * np.sign(least) >= abs(least)


def happened(name: str) -> Callable[[Outcome, Outcome], bool]:
    return lambda rest, run: any(event["name"] == name for event in run[1])


def pixels(rest: Outcome, run: Outcome) -> bool:
    return float(np.abs(rest[2].astype(int) - run[2]).mean()) > 1.0


AWAY = {"S": 1.0}
BACK = {"back": 1.0}
EFFECTS: dict[str, list[tuple[str, dict[str, float], int, dict[str, Any], Callable[[Outcome, Outcome], bool]]]] = {
    "keys14": [
        ("W", {}, RUN, {}, moved("z", 0.5)), ("S", {}, RUN, {}, moved("z", -0.5)),
        ("A", {}, RUN, {}, moved("x", -0.5)), ("D", {}, RUN, {}, moved("x", 0.5)),
        ("Shift", AWAY, RUN, {}, moved("z", 0.3)), ("Ctrl", AWAY, RUN, {}, moved("z", -0.3)),
        ("Fire", {}, 30, {}, happened("dig")), ("Aim", {}, RUN, {"slot": 2}, happened("place")),
        ("Reload", {}, RUN, {}, moved("slot", 1)), ("Jump", {}, 5, {}, moved("y", 0.5)),
        ("Turn_L", {}, RUN, {}, moved("yaw", -30)), ("Turn_R", {}, RUN, {}, moved("yaw", 30)),
        ("Look_U", {}, RUN, {}, moved("pitch", -20)), ("Look_D", {}, RUN, {}, moved("pitch", 20)),
    ],
    "minecraft": [
        ("forward", {}, RUN, {}, moved("z", 0.5)), ("back", {}, RUN, {}, moved("z", -0.5)),
        ("left", {}, RUN, {}, moved("x", -0.5)), ("right", {}, RUN, {}, moved("x", 0.5)),
        ("sneak", BACK, RUN, {}, moved("z", 0.3)), ("sprint", BACK, RUN, {}, moved("z", -0.3)),
        ("attack", {}, 30, {}, happened("dig")), ("use", {}, RUN, {"slot": 2}, happened("place")),
        ("jump", {}, 5, {}, moved("y", 0.5)), ("inventory", {}, 3, {}, pixels), ("drop", {}, RUN, {}, pixels),
        ("pitch", {}, RUN, {}, moved("pitch", 9)), ("yaw", {}, RUN, {}, moved("yaw", 9)),
        ("hotbar.1", {}, 2, {"slot": 2}, moved("slot", -1)),
        *((f"hotbar.{slot}", {}, 2, {}, moved("slot", slot - 1)) for slot in range(2, 10)),
    ],
}  # fmt: skip
"""Control, what is held with it, raw steps, start, and its effect against the same run without it."""


def test_every_control_is_listed() -> None:
    for vocabulary in (KEYS14, MINECRAFT):
        assert {effect[0] for effect in EFFECTS[vocabulary.name]} == set(vocabulary.names)


def test_every_control_has_its_effect(game: Game) -> None:
    resting: dict[str, Outcome] = {}
    without = []
    for control, held, times, start, effect in EFFECTS[game.vocabulary.name]:
        key = repr((held, times, start))
        if key not in resting:
            resting[key] = play(game, (held, times), **start)
        if not effect(resting[key], play(game, ({**held, control: 1.0}, times), **start)):
            without.append(control)
    assert not without
    assert game.effective.all()


def test_the_same_start_and_actions_give_the_same_events_and_pose(game: Game) -> None:
    rng = np.random.default_rng(1)
    script = [sample(rng, game.vocabulary) for _ in range(30)]
    first, second = (play(game, *((action, 4) for action in script)) for _ in range(2))
    assert first[0] == second[0]
    assert first[1] == second[1]
    assert first[1], "the script should dig or place something"


def sample(rng: np.random.Generator, vocabulary: Vocabulary) -> dict[str, float]:
    """Mostly digging and building while walking and looking around."""
    chances = {
        "W": 0.5, "Jump": 0.3, "Fire": 0.5, "Aim": 0.3, "Turn_L": 0.3, "Look_D": 0.4, "Reload": 0.1,
        "forward": 0.5, "jump": 0.3, "attack": 0.5, "use": 0.3, "hotbar.2": 0.2,
    }  # fmt: skip
    pressed = {name: 1.0 for name in vocabulary.names if rng.random() < chances.get(name, 0.0)}
    camera = (
        {} if vocabulary is KEYS14 else {"yaw": float(rng.normal(0, 5)), "pitch": float(rng.normal(2, 5))}
    )
    return pressed | camera


def test_camera_degrees_are_exact_and_stop_at_the_engines_limit() -> None:
    with contextlib.closing(make_game("minetest/arena", vocabulary="minecraft", size=(96, 160))) as game:
        pose = play(game, ({"yaw": 3.02, "pitch": 0.33}, 40))[0]
        assert (pose["yaw"] + 180) % 360 - 180 == pytest.approx(120.8, abs=0.06)
        assert pose["pitch"] == pytest.approx(13.2, abs=0.06)
        assert play(game, ({"pitch": 82.0}, 4))[0]["pitch"] == pytest.approx(PITCH_LIMIT, abs=0.06)
        # What went beyond the limit does not have to be undone.
        up_again = play(game, ({"pitch": 82.0}, 4), ({"pitch": -40.0}, 1))
        assert up_again[0]["pitch"] == pytest.approx(PITCH_LIMIT - 40, abs=0.06)
        assert up_again[2].shape == (96, 160, 3)


def test_nobody_starts_inside_a_tree() -> None:
    """Whose head is in a node sees black; seed 3's first episode used to begin in a jungle tree."""
    plan = RecordingPlan("minetest/terrain", seed=3, size=(48, 48))
    with contextlib.closing(plan.open_game()) as game:
        for episode in range(3):
            frame, _ = game.reset(seed=plan.episode_seed(episode))
            assert (frame.max(2) > 24).mean() > 0.3


def test_terrain_is_the_same_again_after_it_was_changed() -> None:
    with contextlib.closing(make_game("minetest/terrain", memory_mb=1)) as game:
        start, _ = game.reset(seed=4)
        dig = KEYS14.action(["Fire", "Look_D"])
        events = [event for _ in range(60) for event in game.step(dig)[4]["events"]]
        assert any(event["name"] == "dig" for event in events)
        engine = game._client.engine.process.pid  # type: ignore[attr-defined]
        again, _ = game.reset(seed=4)
        assert game._client.engine.process.pid != engine  # type: ignore[attr-defined]  # it had grown beyond 1 MB
        same = np.abs(start.astype(int) - again).max(2) < 24
        assert same.mean() > 0.5  # far scenery may still be on its way; another seed shares .004 of its pixels
        assert [event for _ in range(60) for event in game.step(dig)[4]["events"]] == events


def test_a_fall_from_high_up_ends_the_episode() -> None:
    with contextlib.closing(make_game("minetest/arena")) as game:
        game.reset(seed=0, options={**ROOM, "position": (0.0, FLOOR + 40.0, -6.0), "boxes": ()})
        ended = [game.step(KEYS14.noop()) for _ in range(60)]
        deaths = [step[4] for step in ended if step[2]]
        assert len(deaths) == 1
        assert deaths[0]["events"] == [{"name": "death"}]
        _, info = game.reset(seed=0, options=ROOM)
        assert info["telemetry"]["health"] == 20
        assert info["telemetry"]["y"] == pytest.approx(FLOOR + 0.5)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: make_game("minetest/arena", vocabulary="emoji"), "emoji"),
        (lambda: make_game("minetest/arena").reset(options={"colour": 1}), "colour"),
        (lambda: make_game("minetest/arena").reset(seed=-1), "seed"),
        (lambda: make_game("minetest/arena").step(KEYS14.noop()), "reset"),
    ],
)
def test_wrong_use_names_what_is_wrong(wrong: Callable[[], object], told: str) -> None:
    with pytest.raises(UserError, match=told):
        wrong()
