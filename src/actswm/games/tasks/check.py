"""Is a family of tasks fit for use? Its expert must solve them, and random chunks must not."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ...game import Game
from ..chunks import RAW_STEPS, load_library
from ..registry import make_game
from .policies import random_chunks
from .task import Expert, Start, Task

RANDOM_SEED = 7


@dataclass(frozen=True)
class TaskCheck:
    """Successes of the expert and of random chunks over a task's starts."""

    task: str
    starts: int
    expert: int
    random: int
    expert_chunks: float
    """Mean chunks the expert took where it succeeded."""


def play(
    game: Game, task: Task, start: Start, policy: Expert, stop: threading.Event | None = None
) -> int | None:
    """Chunks until success, or None when the budget of executed chunks is used up or the player died.

    An episode also ends, unsolved, when somebody sets `stop`.
    """
    frame, info = game.reset(**start)
    infos = [info]
    for chunk in range(task.env_budget):
        if stop is not None and stop.is_set():
            return None
        for _ in range(RAW_STEPS):
            frame, _, terminated, truncated, info = game.step(policy.act(frame, info))
            infos.append(info)
            if task.succeeded(infos):
                return chunk + 1
            if terminated or truncated:
                return None
    return None


def check_tasks(
    tasks: Sequence[Task], workers: int = 2, progress: Callable[[str], None] | None = None
) -> tuple[TaskCheck, ...]:
    """Play every start of every task as expert and at random, `workers` engines side by side.

    `progress` is told the task's name after each episode.
    """
    jobs = [
        (task, index, who)
        for task in tasks
        for index in range(len(task.starts))
        for who in ("expert", "random")
    ]
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(workers) as pool:
        stop = threading.Event()
        games: queue.SimpleQueue[dict[str, Game]] = queue.SimpleQueue()
        for _ in range(workers):
            games.put({})

        def run(job: tuple[Task, int, str]) -> int | None:
            task, index, who = job
            own = games.get()
            try:
                kind = repr((task.game, task.game_options))
                if kind not in own:
                    own[kind] = make_game(task.game, **task.game_options)
                    stack.callback(own[kind].close)
                start = task.starts[index]
                policy = (
                    task.expert(start)
                    if who == "expert"
                    else random_chunks(
                        load_library(task.library), np.random.default_rng([RANDOM_SEED, index])
                    )
                )
                chunks = play(own[kind], task, start, policy, stop)
            finally:
                games.put(own)
            if progress:
                progress(task.name)
            return chunks

        futures = [pool.submit(run, job) for job in jobs]
        try:
            results = [future.result() for future in futures]
        except BaseException:  # Ctrl+C, or an engine that cannot start: do not play the rest
            stop.set()
            for future in futures:
                future.cancel()
            raise
    return tuple(
        _summary(task, [(who, n) for (of, _, who), n in zip(jobs, results) if of is task]) for task in tasks
    )


def _summary(task: Task, results: list[tuple[str, int | None]]) -> TaskCheck:
    expert = [chunks for who, chunks in results if who == "expert" and chunks is not None]
    random = [chunks for who, chunks in results if who == "random" and chunks is not None]
    mean = float(np.mean(expert)) if expert else float("nan")
    return TaskCheck(task.name, len(task.starts), len(expert), len(random), mean)
