"""`actswm play` as its own process, and a client that speaks its protocol."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


class Running:
    """A started session. `temporary` is where its engine's folder is."""

    def __init__(self, process: subprocess.Popen[str], temporary: Path) -> None:
        self.process, self.temporary = process, temporary
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.search(r"http://127\.0\.0\.1:(\d+)/([\w-]+)/", line)
        assert match, line
        self.url, self.port, self.token = match[0], int(match[1]), match[2]

    def request(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, bytes, http.client.HTTPMessage]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            connection.request(method, path, body if isinstance(body, bytes) else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers

    def post(self, name: str, **content: Any) -> int:
        return self.request("POST", f"/{self.token}/{name}", content)[0]

    @contextlib.contextmanager
    def watching(self) -> Iterator[Stream]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/{self.token}/stream")
        stream = Stream(connection.getresponse())
        try:
            yield stream
        finally:
            stream.close()
            connection.close()

    def interrupt(self) -> str:
        """Ctrl+C as a terminal sends it, to all processes of the group; returns what it says at its end."""
        os.killpg(self.process.pid, signal.SIGINT)
        out, _ = self.process.communicate(timeout=120)
        return out


class Stream:
    """Collects a session's events in the background: `seen[name]` is a list of contents."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        assert answer.status == 200, answer.status
        self.seen: dict[str, list[Any]] = {"about": [], "moment": [], "imagined": [], "ended": []}
        self._waited = dict.fromkeys(self.seen, 0)
        self._answer = answer
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        name = ""
        with contextlib.suppress(OSError, ValueError, AttributeError, http.client.HTTPException):
            for line in self._answer:
                key, _, value = line.decode().strip().partition(": ")
                if key == "event":
                    name = value
                elif key == "data":
                    self.seen[name].append(json.loads(value))

    def wait(self, name: str, condition: Callable[[Any], bool] = lambda content: True) -> Any:
        """The next event that fulfils the condition, after the one that was waited for before."""
        events, deadline = self.seen[name], time.monotonic() + 120
        while time.monotonic() < deadline:
            while self._waited[name] < len(events):
                self._waited[name] += 1
                event = events[self._waited[name] - 1]
                if condition(event):
                    return event
            time.sleep(0.01)
        raise AssertionError(f"no such {name}; the last one: {str(events[-1:])[:300]}")

    def close(self) -> None:
        self._answer.close()


@contextlib.contextmanager
def playing(tmp_path: Path, *arguments: str | Path) -> Iterator[Running]:
    """Start `actswm play` with its temporary files below `tmp_path`; kill it if the test did not end it."""
    temporary = tmp_path / "temporary"
    temporary.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "actswm", "play", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    try:
        yield Running(process, temporary)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
