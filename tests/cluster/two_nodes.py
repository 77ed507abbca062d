"""A Ray cluster of two nodes on this machine, one of which is killed while it works."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

AtWork = Callable[[int], bool]
"""Is this process, a worker of the second node, in the middle of a task?"""
TASK = b"ray::_apply"
"""What Ray calls a process that is at one of our tasks."""
MEMORY = 100 * 2**20
SYSTEM = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 1000, "worker_niceness": 0}
"""A node that is gone is given up early; workers get their share of a busy machine (Ray lets all others go first)."""


class TwoNodes:
    """The first node stays; a second one is there while a test needs it."""

    def __init__(self) -> None:
        import ray
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 1, "object_store_memory": MEMORY, "include_dashboard": False}
        self._cluster = Cluster(initialize_head=True, head_node_args={**head, "_system_config": SYSTEM})
        ray.init(address=self._cluster.address, log_to_driver=False, configure_logging=False)

    def close(self) -> None:
        import ray

        ray.shutdown()
        self._cluster.shutdown()

    @contextlib.contextmanager
    def second_dies(self, at_work: AtWork) -> Iterator[None]:
        """A second node joins, and all its processes are killed once `at_work`; it has to be, before the end."""
        node = self._cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
        _prepare_worker(node.node_id)
        over, killed = threading.Event(), threading.Event()
        raylet = node.all_processes["raylet"][0].process.pid

        def kill() -> None:
            while not over.wait(0.01):
                if any(at_work(pid) for pid in _children(raylet) if _is_at_task(pid)):
                    for pid in (raylet, *_descendants(raylet)):
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                    killed.set()
                    return

        watcher = threading.Thread(target=kill)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()
            self._cluster.remove_node(node, allow_graceful=False)
            _wait_for(lambda: len(_nodes_alive()) == 1)
        assert killed.is_set(), "the second node was never seen at work"


def holds_file_in(folder: Path) -> AtWork:
    """At work: it has a file below `folder` open."""

    def holds(pid: int) -> bool:
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                if os.readlink(descriptor).startswith(f"{folder}/"):
                    return True
        return False

    return holds


def runs_a_game(pid: int) -> bool:
    """At work: it has started a process, the engine."""
    return bool(_children(pid))


def _prepare_worker(node_id: str) -> None:
    """Its imports take longer than a whole test's work, which the first node would have done by then."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

    ray.get(ray.remote(_imports).options(scheduling_strategy=On(node_id, soft=False)).remote())


def _imports() -> None:
    from . import test_ray  # noqa: F401


def _nodes_alive() -> list[dict[str, Any]]:
    import ray

    return [node for node in ray.nodes() if node["Alive"]]


def _wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def _is_at_task(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(TASK)
    return False


def _children(pid: int) -> list[int]:
    return [child for child, parent in _parents().items() if parent == pid]


def _descendants(pid: int) -> list[int]:
    parents, found = _parents(), [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


def _parents() -> dict[int, int]:
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
    return parents
