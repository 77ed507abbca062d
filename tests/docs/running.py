"""Runs blocks as a reader would: each command is a process of its own, in the page's working directory.

Importing torch costs more than most of the commands. So `actswm ...` and Python blocks are forked from a server that
has imported it once; whatever is more than a plain command goes to bash.
"""

from __future__ import annotations

import glob
import multiprocessing
import os
import shlex
import subprocess
import sys
import traceback
from pathlib import Path

from .blocks import Block

PRELOAD = ["torch", "lightning", "matplotlib.pyplot", "cv2", "av", "h5py", "actswm.cli.main", __name__]
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(PRELOAD)
LONGEST = 600.0
"""Seconds; a command that takes longer hangs."""


def run_block(block: Block, folder: Path) -> str:
    """Run a block in a folder; returns what it printed. A failure names place, command and output."""
    if block.language == "python":
        return _forked(block.place, block.code, folder, python=True)
    return "".join(_command(f"{block.place}: {command}", command, folder) for command in block.commands)


def _command(what: str, command: str, folder: Path) -> str:
    words = shlex.split(command, comments=True)
    plain = words[:1] == ["actswm"] and not set("|&;<>$`(") & set(command.split(" #")[0])
    if plain:
        expanded = [path for word in words for path in _expanded(word, folder)]
        return _forked(what, shlex.join(expanded), folder, python=False)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, f"{what}\nexit code {done.returncode}\n{done.stdout[-3000:]}"
    return done.stdout


def _expanded(word: str, folder: Path) -> list[str]:
    """As the shell does: a pattern becomes the files that match, or stays if there is none."""
    return sorted(glob.glob(word, root_dir=folder)) or [word]


def _forked(what: str, code: str, folder: Path, python: bool) -> str:
    output = folder / ".output"
    process = _SERVER.Process(target=_child, args=(code, str(folder), str(output), python))
    process.start()
    process.join(LONGEST)
    if process.is_alive():
        process.kill()
        process.join()
    printed = output.read_text() if output.exists() else ""
    assert process.exitcode == 0, f"{what}\nexit code {process.exitcode}\n{printed[-3000:]}"
    return printed


def _child(code: str, folder: str, output: str, python: bool) -> None:
    import torch

    os.chdir(folder)
    target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(target, 1)
    os.dup2(target, 2)
    torch.set_num_threads(1)
    os.environ["COLUMNS"] = "120"
    status = 0
    try:
        if python:
            exec(compile(code, "block", "exec"), {"__name__": "block"})
        else:
            from actswm.cli.main import run

            sys.argv = shlex.split(code)
            run()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1 if end.code else 0
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(status)
