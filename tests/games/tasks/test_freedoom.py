from __future__ import annotations

from importlib import resources

import numpy as np
import pytest

from actswm.chunks import RAW_STEPS, load_library
from actswm.games import make_game
from actswm.games.tasks import find_task, task_names
from actswm.games.tasks.reference_runs import draw_runs, dump_runs

TASKS = task_names("freedoom")


def test_the_kept_reference_runs_are_those_that_the_engine_draws():
    kept = resources.files("actswm.games.tasks").joinpath("reference_runs.json").read_text()
    assert dump_runs({world: draw_runs(world) for world in ("room", "maze")}) == kept


@pytest.mark.parametrize("name", TASKS)
def test_replaying_the_reference_succeeds_and_not_before_it_has_moved(name: str):
    task = find_task(name)
    assert len(task.starts) == 20 and task.own_references
    game = make_game(task.game, size=(16, 16), **task.game_options)
    try:
        for start in task.starts:
            expert = task.expert(start)
            frame, info = game.reset(**start)
            infos = [info]
            assert not task.succeeded(infos)
            for _ in range(task.env_budget * RAW_STEPS):
                frame, _, _, _, info = game.step(expert.act(frame, info))
                infos.append(info)
            assert task.succeeded(infos)
    finally:
        game.close()


@pytest.mark.parametrize("name", TASKS)
def test_random_chunks_rarely_succeed(name: str):
    task = find_task(name)
    library = load_library(task.library)
    game = make_game(task.game, size=(16, 16), **task.game_options)
    successes = 0
    try:
        for number, start in enumerate(task.starts):
            rng = np.random.default_rng((17, number))
            _, info = game.reset(**start)
            infos, reached = [info], False
            for chunk in rng.choice(len(library), task.env_budget, p=library.weights):
                for action in library.steps[chunk]:
                    infos.append(game.step(action)[4])
                    reached |= task.succeeded(infos)
            successes += reached
    finally:
        game.close()
    assert successes <= 3
