"""A process that has imported everything and forks one child for each command: a case costs its own work only.

Reads requests (one JSON line each) from standard input, and answers with one line when a command begins and one when
it has ended. It runs nothing itself, so that no
thread or lock of an earlier case lives in a later one.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

SKIPPED = ("bench", "integrations", "weights")
MEMORY = 4 << 30
"""Bytes of address space beyond what the imports take: a field must not be able to order more."""

LONGEST_END = 60.0
"""Seconds that a killed command may take to be gone."""
CAPABILITY_VERSION_3, CAP_DAC_OVERRIDE, PR_CAPBSET_DROP = 0x20080522, 1, 24


def preload() -> None:
    import cv2
    import hdf5plugin  # noqa: F401
    import lmdb  # noqa: F401
    import matplotlib.pyplot  # noqa: F401
    import torch
    import torch.utils.tensorboard
    import typer
    import vizdoom  # noqa: F401
    from typer.testing import CliRunner

    import actswm
    import actswm.cli.main

    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    for module in pkgutil.walk_packages(actswm.__path__, "actswm."):
        if module.name.split(".")[1] not in (*SKIPPED, "__main__"):
            importlib.import_module(module.name)
    CliRunner().invoke(actswm.cli.main.app, ["inspect", "nothing"])  # typer imports more when it is first used
    actswm.cli.main.app = typer.main.get_command(actswm.cli.main.app)  # type: ignore[assignment]


def serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    preload()
    gc.collect()
    gc.freeze()  # a child's collector does not touch, and so copy, all that was imported
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            answers.close()
            end(run_command, request)
        answers.write(json.dumps({"pid": child}) + "\n")
        answers.flush()
        answers.write(json.dumps(wait(child, request)) + "\n")
        answers.flush()


def end(command: Callable[[dict[str, Any]], None], request: dict[str, Any]) -> NoReturn:
    """End the child as the interpreter would, but for taking all modules apart, which costs more than most cases."""
    code = 0
    try:
        command(request)
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1 if left.code else 0
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run_command(request: dict[str, Any]) -> None:
    os.setsid()
    os.chdir(request["folder"])
    for descriptor, name in ((0, os.devnull), (1, request["out"]), (2, request["err"])):
        flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(name, flags), descriptor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit(resource.RLIMIT_AS, pages * resource.getpagesize() + MEMORY)
    limit(resource.RLIMIT_CORE, 0)
    if request.get("file_size") is not None:
        limit(resource.RLIMIT_FSIZE, request["file_size"])
    if request.get("obey"):
        obey_permissions()
    os.environ["COLUMNS"] = "120"
    if request.get("temporary"):
        os.environ["TMPDIR"], tempfile.tempdir = request["temporary"], None
    sys.argv = ["actswm", *request["arguments"]]
    from actswm.cli.main import run

    run()


def obey_permissions() -> None:
    """Root may write where nobody may, by a capability; this process and its children give it up."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, data = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, data) == 0 and data[0] & 1 << CAP_DAC_OVERRIDE:
        libc.prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)
        for index in range(3):  # effective, permitted, inheritable
            data[index] &= ~(1 << CAP_DAC_OVERRIDE)
        if libc.capset(header, data) != 0:
            raise OSError(ctypes.get_errno(), "capset")


def limit(what: int, amount: int) -> None:
    resource.setrlimit(what, (amount, amount))


def wait(child: int, request: dict[str, Any]) -> dict[str, Any]:
    """How the child ended. `until`: Ctrl+C is pressed when its output shows this text."""
    end, hung, until = time.monotonic() + request["seconds"], False, request.get("until")
    handle = os.pidfd_open(child)
    while not select.select([handle], [], [], 0.02 if until else max(0, end - time.monotonic()))[0]:
        if time.monotonic() >= end:
            hung, until, end = True, None, end + LONGEST_END
            os.killpg(child, signal.SIGKILL)
        if until and until in Path(request["out"]).read_text(errors="replace"):
            until = None
            os.kill(child, signal.SIGINT)
    os.close(handle)
    _, status, usage = os.wait4(child, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "hung": hung,
        "cpu": usage.ru_utime + usage.ru_stime,
    }


if __name__ == "__main__":
    serve()
