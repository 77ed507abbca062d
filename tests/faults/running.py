"""Commands run in children of the warm server, and what became of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from .marked import MARK, orphans

ROOT = Path(__file__).parents[2]
LONGEST = 150.0
"""Seconds after which a command hangs. The commands here take less than one, so even a busy machine is no excuse."""


@dataclass(frozen=True)
class Outcome:
    """`code` is negative where a signal ended the command."""

    arguments: tuple[str, ...]
    code: int
    hung: bool
    out: str
    err: str
    cpu: float


@dataclass(frozen=True)
class Running:
    """A command at work: a process that leads a session of its own."""

    server: WarmServer
    arguments: tuple[str, ...]
    pid: int
    texts: tuple[Path, Path]

    @property
    def ended(self) -> bool:
        return not Path(f"/proc/{self.pid}").exists()

    def finish(self) -> Outcome:
        answer = self.server.answer()
        out, err = (file.read_bytes().decode(errors="replace") for file in self.texts)
        return Outcome(arguments=self.arguments, out=out, err=err, **answer)


class WarmServer:
    """Use as a context. One command at a time."""

    def __init__(self) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="actswm-faults-")
        Path(self._scratch.name).chmod(0o777)
        self.mark = self._scratch.name
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "", MARK: self.mark}
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
            start_new_session=True,  # Ctrl+C is for who uses it
        )
        self.pid = self._process.pid

    def run(self, arguments: Sequence[object], folder: Path, **more: Any) -> Outcome:
        return self.start(arguments, folder, **more).finish()

    def start(
        self, arguments: Sequence[object], folder: Path, *, seconds: float = LONGEST, **more: Any
    ) -> Running:
        """One at a time. `more`: `until` (Ctrl+C when this is printed), `file_size`, `obey` (permissions, even root),
        `temporary` (a folder).
        """
        assert self._process.stdin and self._process.stdout
        out, err = (Path(self._scratch.name, name) for name in ("out", "err"))
        for file in (out, err):
            file.write_bytes(b"")
            file.chmod(0o666)
        words = tuple(map(str, arguments))
        request = {"arguments": words, "folder": str(folder), "out": str(out), "err": str(err), **more}
        self._process.stdin.write(json.dumps({"seconds": seconds, **request}) + "\n")
        self._process.stdin.flush()
        return Running(self, words, self.answer()["pid"], (out, err))

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server of commands is gone (exit code {self._process.wait()})")
        return dict(json.loads(line))

    def __enter__(self) -> WarmServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin and self._process.stdout
        orphans(self.mark, 0, self.pid)  # the command at work when a run is stopped
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._scratch.cleanup()
