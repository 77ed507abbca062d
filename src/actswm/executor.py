"""Spreads independent tasks over this machine's processes, or over a Ray cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Literal, TypeVar

from .errors import UserError

ExecutorKind = Literal["processes", "ray"]
T = TypeVar("T")
R = TypeVar("R")


def run_tasks(
    function: Callable[[T], R], tasks: Sequence[T], workers: int, kind: ExecutorKind = "processes"
) -> Iterator[tuple[T, R]]:
    """(task, result) in the order in which they finish. One worker runs in this process."""
    if kind == "ray":
        yield from _on_ray(function, tasks)
    elif workers == 1 or len(tasks) == 1:
        for task in tasks:
            yield task, function(task)
    else:
        yield from _in_processes(function, tasks, workers)


def _in_processes(function: Callable[[T], R], tasks: Sequence[T], workers: int) -> Iterator[tuple[T, R]]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(tasks)), context, _die_with_parent, (os.getpid(),))
    futures = {pool.submit(function, task): task for task in tasks}
    try:
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


def _die_with_parent(parent: int) -> None:
    """A worker whose parent was killed would otherwise wait for work forever; Ctrl+C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.3)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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
