"""Spreads independent tasks over this machine's processes, or over a Ray cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Literal, TypeVar

from .errors import UserError
from .processes import die_with_parent, starting_workers

ExecutorKind = Literal["processes", "ray"]
T = TypeVar("T")
R = TypeVar("R")


def run_tasks(
    function: Callable[[T], R], tasks: Sequence[T], workers: int, kind: ExecutorKind = "processes"
) -> Generator[tuple[T, R]]:
    """(task, result) in the order in which they finish. One worker runs in this process."""
    if not tasks:
        return
    if kind == "ray":
        yield from _on_ray(function, tasks)
    elif workers == 1 or len(tasks) == 1:
        for task in tasks:
            yield task, function(task)
    else:
        yield from _in_processes(function, tasks, workers)


def _in_processes(function: Callable[[T], R], tasks: Sequence[T], workers: int) -> Iterator[tuple[T, R]]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(tasks)), context, _begin_worker)
    futures: dict[Future[R], T] = {}
    try:
        with starting_workers():
            futures = {pool.submit(_in_worker, function, task): task for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool:
        raise UserError(
            "a worker process was killed (out of memory?); run again to go on, with --workers 1"
        ) from None
    finally:
        for process in list((pool._processes or {}).values()):
            if any(not future.done() for future in futures):
                process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


class _Worker:
    """This process, if it is a worker: is it at a task, and is it to stop?"""

    busy = False
    stopping = False


def _begin_worker() -> None:
    """A worker that is told to stop must not die while it hands over a result.

    The pool would wait for the rest of it for ever. So it dies in the middle of a task, or before the next one; or
    when it is told again, which the pool does once it reads no more.
    """
    die_with_parent()

    def stop(*_: object) -> None:
        if _Worker.busy or _Worker.stopping:
            os._exit(1)
        _Worker.stopping = True

    signal.signal(signal.SIGTERM, stop)


def _in_worker(function: Callable[[T], R], task: T) -> R:
    _Worker.busy = True
    try:
        if _Worker.stopping:
            os._exit(1)
        return function(task)
    finally:
        _Worker.busy = False


def _on_ray(function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[T, R]]:
    try:
        import ray
    except ImportError:
        raise UserError("--executor ray needs Ray: pip install 'actswm[ray]'") from None
    started_here = not ray.is_initialized()
    if started_here:
        ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
    try:
        remote = ray.remote(function)
        pending = {remote.remote(task): task for task in tasks}
        while pending:
            [done], _ = ray.wait(list(pending), num_returns=1)
            yield pending.pop(done), ray.get(done)
    finally:
        if started_here:
            ray.shutdown()
