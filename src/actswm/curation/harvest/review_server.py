"""Serves the page on this machine only, and writes down what a person says there."""

from __future__ import annotations

import json
import secrets
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

from .records import Folder
from .reviews import Review, add_reviews
from .sheet import render

_LONGEST = 10_000


class ReviewServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, root: Path, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.folder, self.token, self.lock = Folder(root), secrets.token_urlsafe(16), Lock()
        self.page = render(root, self.token).encode()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer

    def do_GET(self) -> None:
        if self.path != "/":
            self.send_error(404)
            return
        self._answer(200, self.server.page)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        # Another site's page in the same browser does not know the token.
        if self.path != "/review" or self.headers.get("X-Token") != self.server.token or length > _LONGEST:
            self.send_error(403)
            return
        try:
            said = json.loads(self.rfile.read(length))
            review = Review(
                str(said["clip"]), bool(said["keep"]), str(said["verdict"]), float(said["seconds"])
            )
        except (ValueError, KeyError, TypeError):
            self.send_error(400)
            return
        with self.server.lock:
            add_reviews(self.server.folder, [review])
        self._answer(200, b"ok")

    def _answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...
