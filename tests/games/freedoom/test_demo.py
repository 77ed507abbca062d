from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from actswm.errors import UserError
from actswm.games import make_game
from actswm.games.episodes import RecordingPlan, record_episode


@pytest.mark.parametrize("world", ["maze", "maps"])
def test_a_demo_replays_the_same_actions_and_frames(
    world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)  # the engine has another working directory, but our path is ours
    plan = RecordingPlan(f"freedoom/{world}", size=(64, 64), episode_steps=200)
    demo = "episode.lmp"
    game = plan.open_game()
    try:
        recorded = record_episode(game, plan, 0)
        frame, _ = game.reset(seed=recorded.seed, options={"demo": demo})
        frames = [frame]
        for action in recorded.action:
            frames.append(game.step(action)[0])
        game.reset(seed=0)  # completes the demo
        played = game.replay(demo, seed=recorded.seed)
        assert np.array_equal(played.actions, recorded.action)
        assert np.array_equal(played.frames, frames)
        again, _ = game.reset(seed=recorded.seed)  # the game goes on as before
        assert np.array_equal(again, frames[0])
    finally:
        game.close()


def test_a_missing_demo_is_the_users_error(tmp_path: Path):
    with pytest.raises(UserError, match=r"gone\.lmp"):
        make_game("freedoom/maze").replay(tmp_path / "gone.lmp", seed=1)
