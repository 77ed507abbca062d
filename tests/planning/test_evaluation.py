"""Closed loop in the real engine: references, outcomes, resumption, an engine that dies."""

import contextlib
import dataclasses
import json
import os
import signal

import av
import cv2
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from actswm.chunks import RAW_STEPS, load_library
from actswm.errors import UserError
from actswm.games import make_game
from actswm.games.guard import EngineDied
from actswm.games.tasks import find_task
from actswm.masks import apply_mask
from actswm.planning.agents import ChunkAgent, Decision, Method, baseline
from actswm.planning.evaluation import Evaluation
from actswm.planning.mpc import planning
from actswm.planning.planner import Planner, PlanSettings
from actswm.planning.references import Reference, goals_at, load_reference
from actswm.planning.wilson import wilson_interval

from ..model.small_models import disturbed, small_config

TASK = find_task("freedoom/follow-room")
LIBRARY = load_library(TASK.library)
SIZE = 16


class OpenGames:
    """Opens the real game and remembers it, so that a test can kill its engine or see that none was needed."""

    def __init__(self):
        self.games = []

    def __call__(self, size):
        self.games.append(make_game(TASK.game, size=(size, size), **TASK.game_options))
        return self.games[-1]

    def kill_engine(self):
        os.kill(int((self.games[-1]._engine.folder / "engine.pid").read_text()), signal.SIGKILL)


def evaluation(out, **changes):
    games = OpenGames()
    made = Evaluation(TASK, 2, RAW_STEPS, out, games, (EngineDied,))
    return dataclasses.replace(made, **changes), games


def baselines(*names):
    return [(baseline(name, TASK, LIBRARY, seed=0), SIZE) for name in names]


def test_expert_and_replay_succeed_no_op_does_not(tmp_path):
    run, _ = evaluation(tmp_path)
    told = []
    results = run.run(
        baselines("expert", "replay", "noop"), lambda method, result: told.append((method, result.succeeded))
    )
    assert [result.successes for result in results.methods] == [2, 2, 0]
    assert told == [("expert", True)] * 2 + [("replay", True)] * 2 + [("noop", False)] * 2
    episode = json.loads((tmp_path / "noop" / "episode-01.json").read_text())
    assert episode["chunks"] == TASK.env_budget and episode["raw_steps"] == 4 * TASK.env_budget
    reference = load_reference(tmp_path / "references" / f"01-{SIZE}px.npz")
    assert len(reference.clip) == 4 * len(reference) + 1
    assert np.array_equal(reference.frames[1], reference.clip[4])
    strip = cv2.imread(str(tmp_path / "references" / f"01-{SIZE}px.png"))
    assert strip is not None and strip.shape[1] == 12 * 104
    with av.open(str(tmp_path / "noop" / "episode-01.mp4")) as film:
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    assert len(frames) == 4 * TASK.env_budget and frames[0].shape == (280, 768, 3)
    assert np.abs(frames[0][:, 256:512].astype(int) - frames[-1][:, 256:512]).mean() < 8, (
        "reality stands still"
    )
    assert np.abs(frames[0][:, :256].astype(int) - frames[-1][:, :256]).mean() > 8, "the reference does not"
    saved = json.loads((tmp_path / "results.json").read_text())
    assert [method["successes"] for method in saved["methods"]] == [2, 2, 0]


def test_a_model_plans_from_the_first_frame_on_and_the_same_way_again(tmp_path):
    planner = Planner(
        disturbed(small_config(8)), LIBRARY, PlanSettings(horizon=4, candidates=16, iterations=2)
    )
    choices = []
    for again in ("one", "two"):
        run, _ = evaluation(tmp_path / again, episodes=1, film=False)
        (result,) = run.run([(planning("made", planner, "none", {"weights": "made"}), SIZE)]).methods
        assert result.plan_cpu_seconds > 0
        episode = json.loads((tmp_path / again / "made" / "episode-00.json").read_text())
        choices.append((episode["choices"], episode["costs"]))
        assert not (tmp_path / again / "made" / "episode-00.mp4").exists()
    assert choices[0] == choices[1] and len(choices[0][0]) == TASK.env_budget


def test_finished_episodes_are_not_played_again(tmp_path):
    run, _ = evaluation(tmp_path, episodes=1, film=False)
    run.run(baselines("expert"))
    path = tmp_path / "expert" / "episode-00.json"
    before = path.stat().st_mtime_ns
    run, _ = evaluation(tmp_path, film=False)
    (result,) = run.run(baselines("expert")).methods
    assert path.stat().st_mtime_ns == before and result.episodes == result.successes == 2
    other = dataclasses.replace(baselines("random")[0][0], name="expert")
    with pytest.raises(UserError, match=r"episode-00.json: was played with seed None, now 0"):
        run.run([(other, SIZE)])
    path.write_text("{")
    with pytest.raises(UserError, match="not an episode"):
        run.run(baselines("expert"))


@pytest.mark.parametrize("deaths", [1, 2])
def test_an_engine_that_dies_costs_a_try_and_then_the_episode(tmp_path, deaths):
    run, games = evaluation(tmp_path)
    died = []

    def make(episode):
        chosen = []

        def choose(frame):
            chosen.append("wait")
            if episode.number == 0 and len(chosen) == 3 and len(died) < deaths:
                died.append(episode.number)
                games.kill_engine()
            return Decision("wait"), LIBRARY["wait"].steps

        return ChunkAgent(choose)

    (result,) = run.run([(Method("waiting", make), SIZE)]).methods
    assert (result.episodes, result.lost) == (2, deaths - 1)
    files = sorted(path.name for path in (tmp_path / "waiting").iterdir())
    assert files == [f"episode-{n:02}.{kind}" for n in range(deaths - 1, 2) for kind in ("json", "mp4")]
    if deaths == 1:
        assert json.loads((tmp_path / "waiting" / "episode-00.json").read_text())["attempts"] == 2
    else:
        run, _ = evaluation(tmp_path)
        (result,) = run.run([(Method("waiting", make), SIZE)]).methods
        assert result.lost == 0, "a lost episode is played on the next run"


def test_a_given_reference_must_fit(tmp_path):
    short = Reference(np.zeros((4 * 3 + 1, SIZE, SIZE, 3), np.uint8), np.zeros((3, 4, 14), np.float32))
    run, _ = evaluation(tmp_path, reference=short, episodes=1)
    method = dataclasses.replace(baselines("replay")[0][0], horizon=12)
    with pytest.raises(UserError, match="3 steps, fewer than the horizon of 12"):
        run.run([(method, SIZE)])
    with pytest.raises(UserError, match="not 8 pixels"):
        run.run([(dataclasses.replace(method, horizon=3), 8)])
    bad = tmp_path / "bad.npz"
    bad.write_bytes(b"no zip")
    with pytest.raises(UserError, match=r"bad.npz: not a reference"):
        load_reference(bad)
    with pytest.raises(UserError, match="has 20 starts, not 21"):
        evaluation(tmp_path, episodes=21)


def test_damaged_references_are_refused(tmp_path):
    good = {"clip": np.zeros((9, 8, 8, 3), np.uint8), "actions": np.zeros((2, 4, 14), np.float32)}
    file = tmp_path / "clip.npz"
    np.savez_compressed(file, **good)
    data = file.read_bytes()
    for at in range(40, len(data), 7):  # wherever a byte is wrong
        file.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        with contextlib.suppress(UserError):
            load_reference(file)
    np.save(tmp_path / "plain.npy", good["clip"])
    wrong = [{"clip": good["clip"].astype(float)}, {"actions": np.full((2, 4, 14), np.nan)}, {"clip": np.zeros(9)}]
    for number, change in enumerate(wrong):
        np.savez(tmp_path / f"{number}.npz", **{**good, **change})
        with pytest.raises(UserError, match=rf"{number}.npz"):
            load_reference(tmp_path / f"{number}.npz")
    with pytest.raises(UserError, match="not a reference"):
        load_reference(tmp_path / "plain.npy")


def test_goals_go_by_time_and_hold_the_last():
    latents = torch.arange(6.0).unsqueeze(1)
    assert goals_at(latents, 0, 3).flatten().tolist() == [1, 2, 3]
    assert goals_at(latents, 4, 3).flatten().tolist() == [5, 5, 5]


def test_masks_paint_hand_and_hotbar_only():
    frames = np.random.default_rng(0).integers(0, 255, (2, 64, 64, 3), dtype=np.uint8)
    masked = apply_mask("mining", frames)
    assert np.array_equal(apply_mask("none", frames), frames)
    assert np.array_equal(masked[:, :35], frames[:, :35]) and np.array_equal(
        masked[:, :, :16], frames[:, :, :16]
    )
    assert np.array_equal(masked[1, 60, 60], frames[1].mean((0, 1)).round())
    assert np.array_equal(masked[1], apply_mask("mining", frames[1])), "a frame alone is masked alike"
    with pytest.raises(UserError, match="unknown mask"):
        apply_mask("sky", frames)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_solves_its_quadratic(case):
    """Its ends are the rates p at which the observed share lies z standard deviations away."""
    successes, trials = case
    share = successes / trials
    low, high = wilson_interval(successes, trials)
    assert 0 <= low <= share + 1e-12 and share - 1e-12 <= high <= 1
    for p in (low, high):
        assert (share - p) ** 2 == pytest.approx(1.959964**2 * p * (1 - p) / trials, abs=1e-9)
