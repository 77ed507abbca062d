"""Worker processes that play a plan's episodes, and the one place that takes them in order.

Worker w of W plays the episodes first + w, first + w + W, ... A worker whose reader has closed its pipe closes its
game and ends; one whose reader was killed dies at once, and the engine's guard cleans up.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import select
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from ..errors import UserError
from ..executor import run_on_ray_in_order
from ..game import Game
from ..processes import die_with_parent, starting_workers
from .episodes import POSE, Episode, RecordingPlan
from .forks import FamilyRecorder
from .guard import EngineDied
from .slots import SLOTS, EpisodeSlots
from .twins import TwinRecorder

log = logging.getLogger(__name__)

ATTEMPTS = 3
"""Times that an episode is tried when the engine dies in it."""


@contextlib.contextmanager
def play_in_order(plan: RecordingPlan, first: int, workers: int) -> Iterator[Iterator[Episode]]:
    """The plan's episodes from number `first` on, in order, played by `workers` processes.

    An episode lives in shared memory and is valid until the next one is taken.
    """
    context = multiprocessing.get_context("spawn")  # an engine's threads and pipes do not survive a fork
    with contextlib.closing(plan.open_game()) as game:
        controls = game.vocabulary.size
    crew: list[_Worker] = []
    try:
        with starting_workers():
            for number in range(workers):
                ours, theirs = context.Pipe()
                slots = EpisodeSlots(plan.episode_steps, plan.size, controls, len(POSE))
                process = context.Process(
                    target=_play, args=(theirs, slots, plan, first + number, workers), daemon=True
                )
                crew.append(_Worker(process, ours, slots))
                process.start()
                theirs.close()
        yield _take_turns(crew)
    finally:
        for worker in crew:
            worker.pipe.close()  # a worker notices and closes its game
        for worker in crew:
            worker.end()


def play_on_ray(plan: RecordingPlan, first: int) -> contextlib.closing[Generator[Episode]]:
    """The same episodes, each one task of a Ray cluster."""
    return contextlib.closing(run_on_ray_in_order(partial(_play_one, plan), count(first)))


def _play_one(plan: RecordingPlan, index: int) -> Episode:
    with contextlib.closing(plan.open_game()) as game:
        try:
            return played(recorder_of(game, plan), index, Episode.buffer(plan, game), lambda: True)
        except EngineDied as error:
            raise UserError(str(error)) from None


@dataclass(frozen=True)
class _Worker:
    process: SpawnProcess
    pipe: Connection
    slots: EpisodeSlots

    def end(self) -> None:
        if self.process.pid is not None:
            self.process.join(10)
            if self.process.is_alive():
                self.process.terminate()
                self.process.join()
        self.slots.close()


def _take_turns(crew: list[_Worker]) -> Iterator[Episode]:
    while True:
        for worker in crew:
            try:
                message = worker.pipe.recv()
            except (EOFError, ConnectionError):
                raise UserError(
                    "a recording process was killed; run the same command again to go on"
                ) from None
            if isinstance(message, str):
                raise UserError(message)
            slot, seed, rows = message
            yield replace(worker.slots.buffer(slot), seed=seed).first(rows)
            with contextlib.suppress(ConnectionError):
                worker.pipe.send(slot)  # it may be filled again


def _play(pipe: Connection, slots: EpisodeSlots, plan: RecordingPlan, index: int, stride: int) -> None:
    """A worker's life: play every `stride`-th episode until nobody wants them."""

    def wanted() -> bool:
        return not _abandoned(pipe)

    die_with_parent()
    free = list(range(SLOTS))
    with contextlib.suppress(ConnectionError, EOFError):
        try:
            with contextlib.closing(plan.open_game()) as game:
                recorder = recorder_of(game, plan)
                while wanted():
                    slot = free.pop(0) if free else pipe.recv()
                    episode = played(recorder, index, slots.buffer(slot), wanted)
                    pipe.send((slot, episode.seed, len(episode)))
                    index += stride
        except (UserError, EngineDied) as error:
            pipe.send(str(error))


Recorder = FamilyRecorder | TwinRecorder


def recorder_of(game: Game, plan: RecordingPlan) -> Recorder:
    """Whoever plays the episodes of a plan's file."""
    return TwinRecorder(game, plan) if plan.looks > 1 else FamilyRecorder(game, plan)


def played(recorder: Recorder, index: int, buffer: Episode, wanted: Callable[[], bool]) -> Episode:
    """The episode, tried again where the engine dies in it: it comes out the same."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return recorder.record(index, buffer, wanted)
        except EngineDied as error:
            log.warning("episode %d, attempt %d: %s", index, attempt, error)
            if attempt == ATTEMPTS or not wanted():
                raise
    raise AssertionError("unreachable")


def _abandoned(pipe: Connection) -> bool:
    """Has the other side gone?"""
    poll = select.poll()
    poll.register(pipe.fileno(), 0)
    return bool(poll.poll(0))
