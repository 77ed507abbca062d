from __future__ import annotations

from actswm.bench.games import LOOPS, GamesBench, measure
from actswm.games.episodes import RecordingPlan


def test_freedoom_is_measured_against_its_bare_engine():
    plan = RecordingPlan("freedoom/maps", size=(32, 32), episode_steps=100)
    speed = measure(plan, LOOPS["freedoom/maps"][0], steps=400, rounds=1)
    assert speed.engine_fps > 0 and speed.recorder_fps > 0
    figures = GamesBench((speed,), {}).figures()
    assert figures["freedoom.recorder_over_engine"] == speed.recorder_fps / speed.engine_fps
