"""Minetest's tasks: what counts as success, and that expert and random differ on the real engine.

`actswm tasks check minetest` plays all starts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from actswm.chunks import RAW_STEPS, load_library
from actswm.controls import MINECRAFT
from actswm.errors import UserError
from actswm.game import Game, Start
from actswm.games.registry import make_game
from actswm.games.tasks import find_task, task_names
from actswm.games.tasks.minetest import PILLAR_BLOCKS, built_pillar, dug_stone, placed_torch
from actswm.planning.agents import Episode, baseline
from actswm.planning.closed_loop import Outcome, run_episode
from actswm.planning.references import Reference
from actswm.planning.task_check import check_tasks

NAMES = task_names("minetest")


@pytest.fixture(scope="module")
def game(minetest_installed: None) -> Iterator[Game]:
    with contextlib.closing(make_game("minetest/arena", vocabulary="minecraft")) as game:
        yield game


def played(game: Game, name: str, who: str, start: Start) -> Outcome:
    task = find_task(name)
    unseen = Reference(np.empty((1, 1, 1, 3), np.uint8), np.empty((0, 1, 1), np.float32))
    agent = baseline(who, task, load_library(task.library), seed=0).make(Episode(0, start, unseen))
    return run_episode(game, task, start, agent, RAW_STEPS, lambda *told: None)


def info(*events: dict[str, Any], x: float = 0.0, y: float = 8.5, z: float = 0.0) -> dict[str, Any]:
    return {"events": list(events), "telemetry": {"x": x, "y": y, "z": z}}


def placed(height: int, x: int = 0) -> dict[str, Any]:
    return {"name": "place", "node": "default:dirt", "position": [x, height, 0], "against": ""}


def test_stone_counts_only_when_dug() -> None:
    assert dug_stone([info(), info({"name": "dig", "node": "default:stone", "position": [0, 8, 0]})])
    assert not dug_stone([info({"name": "dig", "node": "default:wood", "position": [0, 8, 0]})])
    assert not dug_stone(
        [info({"name": "place", "node": "default:stone", "position": [0, 8, 0], "against": ""})]
    )


def test_a_torch_counts_only_on_the_target() -> None:
    torch = {"name": "place", "node": "default:torch_wall", "position": [0, 9, 0]}
    assert placed_torch([info({**torch, "against": "default:wood"})])
    assert not placed_torch([info({**torch, "against": "default:sand"})])
    assert not placed_torch([info({**torch, "node": "default:dirt", "against": "default:wood"})])


def test_a_pillar_counts_only_under_the_player() -> None:
    column = [info(placed(9 + level), y=9.5 + level) for level in range(PILLAR_BLOCKS)]
    assert built_pillar([info(), *column])
    assert not built_pillar([info(), *column[:-1]])
    assert not built_pillar([info(), *column, info(y=8.5)]), "fell down"
    assert not built_pillar([info(), *column, info(x=1.0, y=8.5 + PILLAR_BLOCKS)]), "stands on something else"
    twice = [info(placed(9), y=8.5 + PILLAR_BLOCKS) for _ in range(PILLAR_BLOCKS)]
    assert not built_pillar([info(), *twice]), "one node placed again and again"


@pytest.mark.parametrize("name", NAMES)
def test_starts_are_twenty_and_differ(name: str) -> None:
    task = find_task(name)
    starts = [*task.starts, task.reference_start]
    assert len(task.starts) == 20
    for field in ("position", "yaw", "boxes"):
        assert len({repr(start["options"][field]) for start in starts}) >= 18, field
    assert repr(task.starts) == repr(find_task(name).starts)
    assert task.draw_start is not None
    assert all(task.draw_start(seed) not in starts for seed in range(30))
    assert load_library(task.library).vocabulary is MINECRAFT is task.vocabulary


@pytest.mark.parametrize("name", NAMES)
def test_the_expert_succeeds_within_the_replans_and_random_chunks_rarely_do(name: str, game: Game) -> None:
    task = find_task(name)
    for start in (task.reference_start, *task.starts[:2]):
        assert played(game, name, "expert", start).succeeded
    assert not all(played(game, name, "random", task.starts[number]).succeeded for number in (6, 13))


def test_check_plays_every_start_as_both(game: Game) -> None:
    from dataclasses import replace

    task = replace(
        find_task("minetest/mine-stone"), starts=find_task("minetest/mine-stone").starts[:2], env_budget=20
    )
    told: list[str] = []
    (check,) = check_tasks([task], lambda task: make_game(task.game, **task.game_options), 2, told.append)
    assert (check.task, check.starts, check.expert) == (task.name, 2, 2)
    assert check.random <= 1 and 8 < check.expert_chunks < 20
    assert told == [task.name] * 4


def test_an_unknown_task_is_named() -> None:
    with pytest.raises(UserError, match="mine-cheese"):
        find_task("minetest/mine-cheese")
    with pytest.raises(UserError, match="cheese"):
        task_names("cheese")
