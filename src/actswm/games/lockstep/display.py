"""A screen that nobody sees: Xvfb on a display number that it picks itself."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import time
from pathlib import Path

from ...errors import UserError

START_SECONDS = 30.0


class Display:
    """A running X server with one screen of `size` = (height, width)."""

    def __init__(self, size: tuple[int, int], folder: Path) -> None:
        program = shutil.which("Xvfb")
        if program is None:
            raise UserError("Xvfb is missing; install it with: apt-get install -y xvfb")
        height, width = size
        reader, writer = os.pipe()
        try:
            # The server picks a free number under its own lock, so that many may start at the same time.
            self.process = subprocess.Popen(
                [program, "-displayfd", str(writer), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"]
                + ["-noreset"],
                cwd=folder, pass_fds=[writer], process_group=0,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            os.close(writer)
            self.number = _read_number(reader)
        finally:
            os.close(reader)
        if self.number is None:
            self.close()
            raise RuntimeError("Xvfb did not start: it named no display")

    @property
    def name(self) -> str:
        return f":{self.number}"

    @property
    def leftovers(self) -> tuple[Path, ...]:
        """What the server cannot remove when it is killed."""
        return (Path(f"/tmp/.X{self.number}-lock"), Path(f"/tmp/.X11-unix/X{self.number}"))

    def close(self) -> None:
        self.process.terminate()  # on SIGTERM it removes its lock and socket
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _read_number(reader: int) -> int | None:
    text, end = b"", time.monotonic() + START_SECONDS
    while not text.endswith(b"\n"):
        if not select.select([reader], [], [], max(0.0, end - time.monotonic()))[0]:
            return None
        chunk = os.read(reader, 64)
        if not chunk:
            return None
        text += chunk
    return int(text)
