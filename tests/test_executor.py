"""Tasks over processes: none at all, and a stop while a worker hands over a large result."""

from __future__ import annotations

import subprocess
import sys

import pytest

from actswm.executor import run_tasks

MODULE = """
import sys, time
from pathlib import Path
from actswm.executor import run_tasks

class SlowToRead:
    def __reduce__(self):
        return time.sleep, (2,)

def work(task):
    if task == "slow":
        return SlowToRead()
    if task == "large":
        time.sleep(0.7)
        Path(sys.argv[1]).touch()
        return bytes(2**20)
    if task == "endless":
        time.sleep(600)

if __name__ == "__main__":
    results = run_tasks(work, ["small", "slow", "large", *sys.argv[2:]], 3)
    next(results)
    while not Path(sys.argv[1]).exists():
        time.sleep(0.001)
    time.sleep(0.3)
    results.close()
    print("done")
"""
"""While the pool reads the slow result, the large one does not fit into the pipe: its worker is stopped half-way."""


def test_no_tasks_need_no_workers() -> None:
    assert list(run_tasks(len, [], workers=2)) == []


@pytest.mark.parametrize("others", [[], ["endless"]])
def test_stopping_does_not_wait_for_half_a_result(tmp_path, others) -> None:
    (tmp_path / "stopped.py").write_text(MODULE)
    program = [sys.executable, str(tmp_path / "stopped.py"), str(tmp_path / "mark"), *others]
    run = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert run.stdout == "done\n", run.stderr
