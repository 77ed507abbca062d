"""A real browser for tests: headless Chromium, driven through the DevTools protocol over two pipes.

with Browser() as browser:
    browser.open(page.as_uri())
    assert browser.evaluate("document.title") == "..."
    browser.press("w")
    assert browser.errors == []
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # Chromium refuses to sandbox for root, which containers run as
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--mute-audio",
    "--remote-debugging-pipe",
)
# Chromium speaks on descriptors 3 and 4; high copies first, since the pipes may have those numbers themselves.
_PLUMBING = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for end, number in zip(ends, (3, 4)):
    os.dup2(end, number)
os.execvp(sys.argv[3], sys.argv[3:])
"""
_NAMED_KEYS = {"Shift": 16, "Control": 17, "Escape": 27, " ": 32, "Enter": 13, "Tab": 9}
_NAMED_KEYS |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
_CODES = {"Shift": "ShiftLeft", "Control": "ControlLeft", " ": "Space"}


class BrowserError(Exception):
    """The browser, or a script inside the page, refused."""


def require_browser() -> str:
    """The program; skips the test, or fails it where games are required, if there is none."""
    for program in PROGRAMS:
        if found := shutil.which(program):
            return found
    reason = "not installed: chromium (make games installs it)"
    if os.environ.get("ACTSWM_REQUIRE_GAMES") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


class Browser:
    """One page. `errors` collects console errors, uncaught exceptions and failed loads; `requests` every URL."""

    def __init__(self, width: int = 1280, height: int = 800, timeout: float = 60) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._timeout, self._number, self._session, self._loads = timeout, 0, "", 0
        self._unread = b""
        self.profile = tempfile.mkdtemp(prefix="browser-")
        there_read, self._write = os.pipe()
        self._read, there_write = os.pipe()
        command = [require_browser(), *OPTIONS, f"--user-data-dir={self.profile}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PLUMBING, str(there_read), str(there_write), *command],
            pass_fds=(there_read, there_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(there_read)
        os.close(there_write)
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
            self.resize(width, height)
        except BaseException:
            self.close()
            raise

    def open(self, url: str) -> None:
        """Go there and wait for the page's load event."""
        seen = self._loads
        answer = self.call("Page.navigate", url=url)
        if answer.get("errorText"):
            raise BrowserError(f"{url}: {answer['errorText']}")
        self._receive_until(lambda: self._loads > seen, f"{url} did not load")

    def evaluate(self, script: str) -> Any:
        """The value of an expression; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(_exception_text(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait_for(self, script: str, timeout: float | None = None) -> Any:
        """Ask until the expression is true, and return its value."""
        deadline = time.monotonic() + (timeout or self._timeout)
        while not (value := self.evaluate(script)):
            if time.monotonic() > deadline:
                raise BrowserError(f"never became true: {script}; errors so far: {self.errors}")
            time.sleep(0.05)
        return value

    def key_down(self, key: str) -> None:
        """Hold a key, named as in KeyboardEvent.key: "w", "Shift", "ArrowLeft", " "."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **_key(key), **text)

    def key_up(self, key: str) -> None:
        self.call("Input.dispatchKeyEvent", type="keyUp", **_key(key))

    def press(self, key: str) -> None:
        self.key_down(key)
        self.key_up(key)

    def mouse(self, kind: str, x: float, y: float, button: str = "none") -> None:
        """kind: mouseMoved, mousePressed or mouseReleased; button: left, right, middle or none."""
        clicks = 0 if kind == "mouseMoved" else 1
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=clicks)

    def click(self, selector: str) -> None:
        """A real click in the middle of the first element that matches."""
        x, y = self.evaluate(f"""(element => {{
            element.scrollIntoView({{block: "center", behavior: "instant"}});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})(document.querySelector({json.dumps(selector)}))""")
        self.mouse("mousePressed", x, y, "left")
        self.mouse("mouseReleased", x, y, "left")

    def resize(self, width: int, height: int, phone: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )

    def prefer(self, scheme: str) -> None:
        """light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """What is visible, or the whole page, as PNG."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Any DevTools command: https://chromedevtools.github.io/devtools-protocol."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            unsent = memoryview(json.dumps(message).encode() + b"\0")
            while unsent:
                unsent = unsent[os.write(self._write, unsent) :]
        except BrokenPipeError:
            raise BrowserError("the browser has ended") from None
        answers: list[dict[str, Any]] = []
        self._receive_until(lambda: bool(answers), f"no answer to {method}", number, answers)
        if "error" in answers[0]:
            raise BrowserError(f"{method}: {answers[0]['error']['message']}")
        return answers[0]["result"]

    def close(self) -> None:
        """End the browser with all its processes, and remove its profile."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for end in (self._read, self._write):
            os.close(end)
        for _ in range(50):  # its children may still be writing
            shutil.rmtree(self.profile, ignore_errors=True)
            if not os.path.exists(self.profile):
                break
            time.sleep(0.1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receive_until(
        self, done: Any, failure: str, number: int = 0, answers: list[dict[str, Any]] | None = None
    ) -> None:
        deadline = time.monotonic() + self._timeout
        while not done():
            if not select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise BrowserError(f"{failure} within {self._timeout:g} s")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise BrowserError(f"{failure}: the browser has ended")
            *messages, self._unread = (self._unread + part).split(b"\0")
            for message in map(json.loads, messages):
                if "id" not in message:
                    self._heard(message["method"], message["params"])
                elif message["id"] == number and answers is not None:
                    answers.append(message)

    def _heard(self, event: str, about: dict[str, Any]) -> None:
        if event == "Page.loadEventFired":
            self._loads += 1
        elif event == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.errors.append(_exception_text(about["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and about["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(part.get("value", part)) for part in about["args"]))
        elif event == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.errors.append(f"{about['entry']['text']} {about['entry'].get('url', '')[:200]}".strip())


def _key(key: str) -> dict[str, Any]:
    letter = len(key) == 1 and key.isalnum()
    number = _NAMED_KEYS.get(key, ord(key.upper()) if letter else 0)
    prefix = "Digit" if key.isdigit() else "Key"
    code = _CODES.get(key, f"{prefix}{key.upper()}" if letter else key)
    return {"key": key, "code": code, "windowsVirtualKeyCode": number}


def _exception_text(details: dict[str, Any]) -> str:
    return str(details.get("exception", {}).get("description") or details["text"])
