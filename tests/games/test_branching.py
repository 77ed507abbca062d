from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actswm.controls import KEYS14
from actswm.errors import UserError
from actswm.games.branching import BranchPoint, branch, branch_all
from actswm.games.episodes import Episode, RecordingPlan, record_episode

STEPS = 240
PLAN = {
    world: RecordingPlan(f"freedoom/{world}", size=(64, 64), episode_steps=STEPS)
    for world in ("maze", "maps")
}


@pytest.fixture(scope="module", params=list(PLAN))
def recorded(request: pytest.FixtureRequest):
    """A game and an episode that another engine recorded."""
    plan = PLAN[request.param]
    recorder = plan.open_game()
    episode = record_episode(recorder, plan, 2)
    recorder.close()
    game = plan.open_game()
    yield game, episode
    game.close()


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, STEPS - 65), st.sampled_from([1, 2, 4]), st.integers(1, 16))
def test_the_recorded_alternative_gives_the_recorded_frames(recorded, at: int, every: int, count: int):
    game, episode = recorded
    rows = every * count
    actions = episode.action[at : at + rows]
    other = np.tile(KEYS14.action(["Turn_R", "S"]), (rows, 1))
    result = branch(game, episode.seed, episode.action[:at], [other, actions, actions], every=every)
    truth = episode.pixels[at + every : at + rows + 1 : every]
    assert np.array_equal(result.start, episode.pixels[at])
    for future in result.futures[1:]:  # also after another alternative has been played
        assert np.array_equal(future.frames, truth)
        assert np.array_equal(future.pose, episode.pose[at + every : at + rows + 1 : every], equal_nan=True)


def test_other_actions_give_another_future(recorded):
    game, episode = recorded
    turn = np.tile(KEYS14.action(["Turn_L"]), (16, 1))
    left, right = branch(game, episode.seed, episode.action[:50], [turn, np.roll(turn, 1, axis=1)]).futures
    assert left.frames.shape == right.frames.shape == (16, 64, 64, 3)
    assert not np.array_equal(left.frames[-1], right.frames[-1])


def test_many_points_in_order_with_two_engines():
    plan = PLAN["maze"]
    game = plan.open_game()
    episodes: list[Episode] = [record_episode(game, plan, index) for index in range(3)]
    game.close()
    points = [
        BranchPoint(episode.seed, episode.action[:at], [episode.action[at : at + 8]], every=4)
        for episode in episodes
        for at in (0, 77)
    ]
    results = list(branch_all(plan.game, points, size=plan.size, workers=2))
    for point, result, episode in zip(points, results, [episode for episode in episodes for _ in (0, 1)]):
        at = len(point.prefix)
        assert np.array_equal(result.futures[0].frames, episode.pixels[at + 4 : at + 9 : 4])


@pytest.mark.parametrize("options", [{"x": 1}, {"size": 3}, {"controls": 5}])
def test_options_that_the_game_does_not_know_are_told_by_the_worker(options):
    point = BranchPoint(1, np.zeros((0, KEYS14.size)), [np.zeros((4, KEYS14.size))])
    with pytest.raises(UserError, match="option"):
        list(branch_all("freedoom/room", [point], size=(16, 16), options=options))


def test_a_prefix_that_ends_the_episode_is_an_error():
    plan = RecordingPlan("freedoom/maze", size=(16, 16), options={"goal": True})
    game = plan.open_game()
    try:
        index = next(
            index for index in range(60) if len(record_episode(game, plan, index)) < plan.episode_steps
        )
        episode = record_episode(game, plan, index)
        with pytest.raises(UserError, match="ends inside the prefix"):
            branch(game, episode.seed, episode.action, [KEYS14.noop()[None]])
        cut = branch(game, episode.seed, episode.action[:-4], [episode.action[-4:]])
        assert len(cut.futures[0].frames) == 3  # the fourth action leaves the maze
    finally:
        game.close()


def test_games_that_are_not_deterministic_cannot_branch():
    class Unsteady:
        name, deterministic = "made/unsteady", False

    with pytest.raises(UserError, match="made/unsteady is not deterministic"):
        branch(Unsteady(), 0, np.zeros((0, 14)), [np.zeros((4, 14))])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("alternatives", "every"), [([], 1), ([np.zeros((6, 14))], 4), ([np.zeros((4, 14))], 0)]
)
def test_bad_requests_are_the_users_error(recorded, alternatives: list, every: int):
    game, episode = recorded
    with pytest.raises(UserError):
        branch(game, episode.seed, episode.action[:1], alternatives, every=every)
