"""How fast the command line starts, measured against the import of torch."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from statistics import median

HELP = (sys.executable, "-m", "actswm", "--help")
TORCH = (sys.executable, "-c", "import torch")


@dataclass(frozen=True)
class Run:
    """Of one process, in seconds."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class StartupBench:
    """Ratios of medians: `actswm --help` over `python -c "import torch"`."""

    startup_over_torch: float
    """By the clock on the wall."""
    startup_over_torch_cpu: float
    """By processor time, which other work on the machine disturbs less."""
    runs: int


def bench_startup(runs: int) -> StartupBench:
    """The two take turns `runs` times, after one turn each that warms the file cache."""
    for command in (HELP, TORCH):
        _run(command)
    pairs = [(_run(HELP), _run(TORCH)) for _ in range(runs)]
    ours, theirs = zip(*pairs)
    return StartupBench(
        startup_over_torch=median(run.wall for run in ours) / median(run.wall for run in theirs),
        startup_over_torch_cpu=median(run.cpu for run in ours) / median(run.cpu for run in theirs),
        runs=runs,
    )


def _run(command: tuple[str, ...]) -> Run:
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed with exit code {process.returncode}")
    return Run(time.perf_counter() - began, usage.ru_utime + usage.ru_stime)
