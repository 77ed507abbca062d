"""Spreads independent tasks over this machine's processes, or over a Ray cluster."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Literal, TypeVar

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
    with _ray() as ray:
        submit = _submitter(ray, function)
        pending = {submit(task): task for task in tasks}
        while pending:
            [done], _ = ray.wait(list(pending), num_returns=1)
            yield pending.pop(done), _result(ray, done)


def run_on_ray_in_order(function: Callable[[T], R], tasks: Iterable[T]) -> Generator[R]:
    """Results in the order of `tasks`, which may have no end: few more run than the cluster has processors."""
    with _ray() as ray:
        submit, waiting = _submitter(ray, function), deque[Any]()
        for task in tasks:
            waiting.append(submit(task))
            while len(waiting) > _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1))):
                yield _result(ray, waiting.popleft())
        while waiting:
            yield _result(ray, waiting.popleft())


_AHEAD = 2


@contextlib.contextmanager
def _ray() -> Iterator[Any]:
    """Ray, connected; what runs when it is left is ended."""
    try:
        import ray
    except ImportError:
        raise UserError("--executor ray needs Ray: pip install 'actswm[ray]'") from None
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would tell its makers of each cluster
    started_here = not ray.is_initialized()
    if started_here:
        ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
    try:
        yield ray
    finally:
        if started_here:
            ray.shutdown()


def _submitter(ray: Any, function: Callable[[T], R]) -> Callable[[T], Any]:
    """`function` goes to the cluster once, whatever it carries. A task whose node dies is run again elsewhere."""
    remote, carried = ray.remote(_apply), ray.put(function)

    def submit(task: T) -> Any:
        return remote.remote(carried, task)

    return submit


def _result(ray: Any, reference: Any) -> Any:
    """What the task returned; what it raised is raised as it was, without Ray's words around it."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, UserError):
            raise error.cause from None
        raise
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError):
        raise UserError(
            "a task's process was killed on each node that tried it (out of memory?); run again to go on"
        ) from None


def _apply(function: Callable[[T], R], task: T) -> R:
    return function(task)
