"""A site on loopback that offers videos, and is as unreliable as a test wants it."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from contextlib import AbstractContextManager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ...made.serving import serving


class VideoServer(ThreadingHTTPServer):
    """`files` are served with ranges; `trouble` says what goes wrong with a path, and how many times still."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, tuple[str, bytes]] = {}
        self.trouble: dict[str, list[str]] = {}
        self.requests: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        """Bytes of bodies, by path."""
        self.ranges: list[str] = []
        self.block_s = 0.0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address) -> None:
        """A client that goes away is what the tests are about."""

    def feed(self, path: str, *videos: str) -> str:
        items = "".join(
            f"<item><title>{escape(name)}</title><link>{escape(self.url + name)}</link></item>"
            for name in videos
        )
        feed = f'<?xml version="1.0"?><rss version="2.0"><channel><title>feed</title>{items}</channel></rss>'
        self.files[path] = ("application/rss+xml", feed.encode())
        return self.url + path


class _Handler(BaseHTTPRequestHandler):
    server: VideoServer
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._serve(body=False)

    def do_GET(self) -> None:
        self._serve(body=True)

    def _serve(self, body: bool) -> None:
        server, path = self.server, self.path.split("?")[0].replace("%3C", "<").replace("%3E", ">")
        with server.lock:
            server.requests[path] += 1
            waiting = server.trouble.get(path, [])
            trouble = (
                waiting[0]
                if len(waiting) == 1 and waiting[0].endswith("!")
                else (waiting.pop(0) if waiting else "")
            )
        trouble = trouble.rstrip("!")
        if trouble.isdigit():
            self._short(int(trouble), {"Retry-After": "0"} if trouble == "429" else {})
            return
        if trouble.startswith("to "):
            self._short(302, {"Location": trouble[3:]})
            return
        if path not in server.files:
            self._short(404, {})
            return
        kind, data = server.files[path]
        if trouble == "html":
            kind, data = "text/html", b"<html><body>please log in</body></html>"
        first = 0
        told = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if told:
            first = int(told[1])
            server.ranges.append(f"{path} {first}")
        part = data[first:]
        self.send_response(206 if told else 200)
        self.send_header("Content-Type", kind)
        self.send_header("Accept-Ranges", "bytes")
        if told:
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        promised = len(part) + (5000 if trouble == "long" else 0)
        self.send_header("Content-Length", str(promised))
        self.end_headers()
        if not body:
            return
        if trouble == "cut":
            part = part[: len(part) // 2]
        if trouble == "stall":
            part = part[:2000]
        for start in range(0, len(part), 16384):
            block = part[start : start + 16384]
            self.wfile.write(block)
            with server.lock:
                server.sent[path] += len(block)
            if server.block_s:
                time.sleep(server.block_s)
        if trouble == "stall":
            time.sleep(4)
        if trouble in ("cut", "long", "stall"):
            self.close_connection = True

    def _short(self, code: int, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


def video_server() -> AbstractContextManager[VideoServer]:
    return serving(VideoServer())
