"""The page and what it talks to, on the loopback interface only.

Every address begins with a secret token; the `Host` and `Origin` of a request must be ours, so that no other page,
not even one whose name has been pointed at this machine, gets in. Pictures and state go out as server-sent events,
what the person does comes in as small POSTs.
"""

from __future__ import annotations

import errno
import hmac
import json
import logging
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any

from ..errors import UserError
from .board import Board, Imagined
from .hands import Hands
from .messages import About, imagined_message, moment_message, report_of
from .session import Session

log = logging.getLogger(__name__)

ADDRESS = "127.0.0.1"
FILES = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
LONGEST_BODY = 4096
MOST_CONNECTIONS = 32
"""A browser opens six; more than this are somebody else's, and each has a thread."""
REQUEST_SECONDS = 10.0
"""For a whole request to arrive, however slowly its bytes drip in."""
HEARTBEAT = 1.0
"""Seconds of silence after which a stream says something, to learn whether anybody still listens."""


class PlayServer(ThreadingHTTPServer):
    """Serves from construction on; `close` frees the port."""

    daemon_threads = True

    def __init__(self, about: About, session: Session, hands: Hands, board: Board, port: int = 0) -> None:
        self.about, self.session, self.hands, self.board = about, session, hands, board
        self.token = secrets.token_urlsafe(16)
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._due: dict[socket.socket, float] = {}
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            raise UserError(f"--port {port}: {error.strerror}; choose another, or 0 for any") from None
        self.hosts = tuple(f"{name}:{self.server_port}" for name in (ADDRESS, "localhost"))
        self._thread = threading.Thread(target=self.serve_forever, name="server", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://{self.hosts[0]}/{self.token}/"

    def close(self) -> None:
        """Tell the open pages that it is over, and free the port."""
        self.board.end()
        self.board.wait_until_unwatched(1.0)
        self.shutdown()
        self.server_close()
        self._thread.join()

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            with suppress(OSError):
                request.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.arrived(request)
            self._free.release()

    def expect(self, connection: socket.socket) -> None:
        """A request is to arrive in time."""
        self._due[connection] = time.monotonic() + REQUEST_SECONDS

    def arrived(self, connection: socket.socket) -> None:
        self._due.pop(connection, None)

    def service_actions(self) -> None:
        """Now and then: no more is read of requests that are overdue; what came of them is still answered."""
        now = time.monotonic()
        for connection, due in list(self._due.items()):
            if due < now:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RD)

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.debug("a request ended in the middle", exc_info=True)


class _Refused(Exception):
    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: PlayServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "actswm", ""
    timeout = REQUEST_SECONDS
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        log.debug("%s", (format % args).replace(self.server.token, "TOKEN"))

    def handle_one_request(self) -> None:
        self.server.expect(self.connection)
        super().handle_one_request()

    def _answer(self, answer: Callable[[str], None]) -> None:
        try:
            answer(self._name())
        except _Refused as refusal:
            self.close_connection = True  # an unread body must not become the next request
            self._send(refusal.status, "text/plain; charset=utf-8", f"{refusal}\n".encode())

    def _name(self) -> str:
        """What is asked for, if the one who asks may."""
        origin = self.headers.get("Origin")
        known = self.headers.get("Host") in self.server.hosts and (
            origin is None or origin in [f"http://{host}" for host in self.server.hosts]
        )
        _, token, name = (self.path.split("/", 2) + ["", ""])[:3]
        if not known or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise _Refused(HTTPStatus.FORBIDDEN, "open the address that actswm play printed, token included")
        return name

    def _get(self, name: str) -> None:
        self.server.arrived(self.connection)
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # a body that nobody reads must not become the next request
        if name == "stream":
            self._stream()
        elif name in FILES:
            file, kind = FILES[name]
            self._send(HTTPStatus.OK, kind, (resources.files("actswm.play") / file).read_bytes())
        else:
            raise _Refused(HTTPStatus.NOT_FOUND, "no such page")

    def _post(self, name: str) -> None:
        told = self._body()
        try:
            if name == "input":
                self.server.hands.report(report_of(told))
            elif name == "clock" and isinstance(told["running"], bool):
                self.server.session.set_running(told["running"])
            elif name == "world" and isinstance(told["imagined"], bool):
                self.server.session.imagine(told["imagined"])
            elif name == "episode" and told["wish"] in ("save", "reset"):
                self.server.session.wish(told["wish"])
            else:
                raise _Refused(HTTPStatus.NOT_FOUND, "no such request")
        except (UserError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise _Refused(HTTPStatus.BAD_REQUEST, f"not understood: {error}") from None
        self._send(HTTPStatus.NO_CONTENT)

    def _body(self) -> dict[str, Any]:
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or len(lengths) != 1 or not re.fullmatch("[0-9]+", lengths[0]):
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "give one Content-Length, a whole number")
        if len(lengths[0]) > len(str(LONGEST_BODY)) or int(lengths[0]) > LONGEST_BODY:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"longer than {LONGEST_BODY} bytes")
        try:
            body = self.rfile.read(int(lengths[0]))
        except TimeoutError:
            body = b""
        self.server.arrived(self.connection)
        if len(body) < int(lengths[0]):
            raise _Refused(HTTPStatus.REQUEST_TIMEOUT, "the body is shorter than its Content-Length")
        try:
            told = json.loads(body)
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict):
            raise _Refused(HTTPStatus.BAD_REQUEST, "not a JSON object")
        return told

    def _send(self, status: HTTPStatus, kind: str = "", body: bytes = b"") -> None:
        self.send_response(status)
        for header, value in HEADERS.items():
            self.send_header(header, value)
        if status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self) -> None:
        """Everything there is to see, as it comes; a slow reader gets the newest and misses some."""
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        for header, value in {**HEADERS, "Content-Type": "text/event-stream"}.items():
            self.send_header(header, value)
        self.end_headers()
        board, session = self.server.board, self.server.session
        number, moment, told = 0, None, dict[int, Imagined]()
        try:
            with board.watching():
                self._event("about", asdict(self.server.about))
                while True:
                    view = board.newer_than(number, HEARTBEAT)
                    if view is None:
                        self.wfile.write(b":\n\n")
                        continue
                    number = view.number
                    for model, imagined in view.imagined.items():
                        if told.get(model) is not imagined:
                            told[model] = imagined
                            self._event("imagined", imagined_message(imagined))
                    if view.moment is not None and view.moment is not moment:
                        moment = view.moment
                        self._event("moment", moment_message(moment))
                    if view.ended:
                        self._event("ended", {})
                        return
        except OSError:
            log.debug("a page was closed")
        finally:
            if board.watchers == 0:
                session.set_running(False)

    def _event(self, name: str, content: dict[str, Any]) -> None:
        self.wfile.write(f"event: {name}\ndata: {json.dumps(content)}\n\n".encode())
