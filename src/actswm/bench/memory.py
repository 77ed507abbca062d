"""The memory that a piece of work needs."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any


def peak_mib(work: Callable[..., object], *arguments: object) -> float:
    """Peak resident memory of a fresh process that does `work`, a function of a module."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work_and_tell, args=(sender, work, arguments))
    process.start()
    sender.close()  # else nobody would notice that the process is gone
    try:
        return float(receiver.recv())
    except EOFError:
        process.join()
        raise RuntimeError(f"the process that was measured ended early (exit code {process.exitcode})") from None
    finally:
        process.join()


def _work_and_tell(sender: Any, work: Callable[..., object], arguments: tuple[object, ...]) -> None:
    work(*arguments)
    # Not getrusage: its peak is inherited from the parent.
    status = Path("/proc/self/status").read_text()
    sender.send(int(status.split("VmHWM:")[1].split()[0]) / 1024)
