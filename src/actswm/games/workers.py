"""Worker processes that play a plan's episodes, and the one place that takes them in order.

Worker w of W plays the episodes first + w, first + w + W, ... A worker whose reader is gone, closed or killed,
notices at its pipe, closes its game and ends.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import select
import signal
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from ..errors import UserError
from ..game import Game
from .episodes import Episode, RecordingPlan, record_episode
from .guard import EngineDied

log = logging.getLogger(__name__)

ATTEMPTS = 3
"""Times that an episode is tried when the engine dies in it."""


@contextlib.contextmanager
def play_in_order(plan: RecordingPlan, first: int, workers: int) -> Iterator[Iterator[Episode]]:
    """The plan's episodes from number `first` on, in order, played by `workers` processes."""
    context = multiprocessing.get_context("spawn")  # an engine's threads and pipes do not survive a fork
    processes, pipes = [], []
    try:
        with _interrupts_ignored():
            for worker in range(workers):
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(
                    target=_play, args=(theirs, plan, first + worker, workers), daemon=True
                )
                process.start()
                theirs.close()
                processes.append(process)
                pipes.append(ours)
        yield _take_turns(pipes)
    finally:
        for pipe in pipes:
            pipe.close()  # a worker notices and closes its game
        for process in processes:
            process.join(10)
            if process.is_alive():
                process.terminate()
                process.join()


def _take_turns(pipes: list[Connection]) -> Iterator[Episode]:
    while True:
        for pipe in pipes:
            try:
                message = pipe.recv()
            except EOFError:
                raise UserError(
                    "a recording process was killed; run the same command again to go on"
                ) from None
            if isinstance(message, str):
                raise UserError(message)
            yield _receive(pipe, *message)


def _play(pipe: Connection, plan: RecordingPlan, index: int, stride: int) -> None:
    """A worker's life: play every `stride`-th episode until nobody wants them."""

    def wanted() -> bool:
        return not _abandoned(pipe)

    with contextlib.closing(plan.open_game()) as game, contextlib.suppress(BrokenPipeError):
        try:
            while wanted():
                episode = _tried(game, plan, index, wanted)
                if wanted():
                    _send(pipe, episode)
                index += stride
        except (UserError, EngineDied) as error:
            pipe.send(str(error))


def _tried(game: Game, plan: RecordingPlan, index: int, wanted: Callable[[], bool]) -> Episode:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return record_episode(game, plan, index, wanted)
        except EngineDied as error:
            log.warning("episode %d, attempt %d: %s", index, attempt, error)
            if attempt == ATTEMPTS or not wanted():
                raise
    raise AssertionError("unreachable")


def _send(pipe: Connection, episode: Episode) -> None:
    """Arrays go as plain bytes: pickling them would copy each episode twice more."""
    pipe.send((episode.seed, episode.pixels.shape, episode.action.shape, episode.pose.shape))
    for array in (episode.pixels, episode.action, episode.pose):
        pipe.send_bytes(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _receive(pipe: Connection, seed: int, *shapes: tuple[int, ...]) -> Episode:
    arrays: list[Any] = []
    for shape, dtype in zip(shapes, (np.uint8, np.float32, np.float32)):
        array = np.empty(shape, dtype)
        pipe.recv_bytes_into(array.reshape(-1).view(np.uint8).data)
        arrays.append(array)
    return Episode(seed, *arrays)


def _abandoned(pipe: Connection) -> bool:
    """Has the reader of this write end gone?"""
    poll = select.poll()
    poll.register(pipe.fileno(), 0)
    return bool(poll.poll(0))


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes started inside ignore Ctrl+C, and so do their engines: the reader alone decides when to stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
