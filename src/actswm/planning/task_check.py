"""Is a task fit for use? Its expert must solve it, and random chunks must not."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from ..chunks import load_library
from ..game import Frame, Game
from ..task import Task
from .agents import Decision, Episode, baseline
from .closed_loop import Outcome, run_episode
from .references import Reference

SEED = 7
"""Of the random chunks."""
PLAYERS = ("expert", "random")


@dataclass(frozen=True)
class TaskCheck:
    """Successes of the expert and of random chunks over a task's starts."""

    task: str
    starts: int
    expert: int
    random: int
    expert_chunks: float
    """Mean chunks the expert took where it succeeded."""


def check_tasks(
    tasks: Sequence[Task],
    open_game: Callable[[Task], Game],
    workers: int = 2,
    progress: Callable[[str], None] = lambda task: None,
) -> tuple[TaskCheck, ...]:
    """Play every start of every task as both, `workers` engines side by side, up to the budget of executed chunks.

    `progress` is told the task's name after each episode.
    """
    unseen = Reference(np.empty((1, 1, 1, 3), np.uint8), np.empty((0, 1, 1), np.float32))
    jobs = [(task, number, who) for task in tasks for number in range(len(task.starts)) for who in PLAYERS]
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(workers) as pool:
        stop = threading.Event()
        games: queue.SimpleQueue[dict[str, Game]] = queue.SimpleQueue()
        for _ in range(workers):
            games.put({})

        def watch(step: int, frame: Frame, decision: Decision) -> None:
            if stop.is_set():
                raise InterruptedError

        def run(job: tuple[Task, int, str]) -> Outcome:
            task, number, who = job
            library, own = load_library(task.library), games.get()
            try:
                kind = repr((task.game, task.game_options))
                if kind not in own:
                    own[kind] = open_game(task)
                    stack.callback(own[kind].close)
                start, game = task.starts[number], own[kind]
                agent = baseline(who, task, library, SEED).make(Episode(number, start, unseen))
                unplanned = replace(task, plan_budget=task.env_budget)
                outcome = run_episode(game, unplanned, start, agent, library.steps.shape[1], watch)
            finally:
                games.put(own)
            progress(task.name)
            return outcome

        futures = [pool.submit(run, job) for job in jobs]
        try:
            outcomes = [future.result() for future in futures]
        except BaseException:  # Ctrl+C, or an engine that cannot start: do not play the rest
            stop.set()
            for future in futures:
                future.cancel()
            raise
    return tuple(
        _summary(task, [(who, one) for (of, _, who), one in zip(jobs, outcomes) if of is task]) for task in tasks
    )


def _summary(task: Task, played: list[tuple[str, Outcome]]) -> TaskCheck:
    expert, random = ([one.chunks for by, one in played if by == who and one.succeeded] for who in PLAYERS)
    mean = float(np.mean(expert)) if expert else float("nan")
    return TaskCheck(task.name, len(task.starts), len(expert), len(random), mean)
