"""The server against clients that mean no good: slow, many, and wrong about lengths."""

import contextlib
import logging
import socket
import time

import pytest

from actswm.controls import KEYS14
from actswm.formats.keymap import DEFAULT_KEYS
from actswm.play import server as module
from actswm.play.board import Board
from actswm.play.hands import Hands
from actswm.play.messages import About
from actswm.play.server import PlayServer


class Clock:
    """The part of a session that the server talks to."""

    def set_running(self, running):
        self.running = running

    def wish(self, wish):
        self.wished = wish


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(module, "REQUEST_SECONDS", 1.0)
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 4)
    hands = Hands(DEFAULT_KEYS["keys14"], [True] * KEYS14.size, 1)
    with contextlib.closing(PlayServer(About("made", 20.0, (), {}), Clock(), hands, Board())) as server:
        yield server


def connect(server):
    connection = socket.create_connection(("127.0.0.1", server.server_port), timeout=60)
    return contextlib.closing(connection)


def head(server, method="POST", name="clock", *headers):
    lines = [f"{method} /{server.token}/{name} HTTP/1.1", f"Host: {server.hosts[0]}", *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def answer(connection):
    with contextlib.suppress(ConnectionResetError):
        return connection.recv(4096).split(b"\r\n")[0].decode()
    return ""


@pytest.mark.parametrize(
    ("length", "status"),
    [("-1", 411), ("x", 411), ("\xb2", 411), ("", 411), ("1e3", 411), ("+5", 411), ("9" * 5000, 413), ("4097", 413)],
)
def test_a_bad_content_length_is_answered(server, length, status):
    with connect(server) as connection:
        connection.sendall(head(server, "POST", "clock", f"Content-Length: {length}"))
        assert answer(connection).startswith(f"HTTP/1.1 {status} ")


@pytest.mark.parametrize("headers", [(), ("Content-Length: 2", "Content-Length: 3"), ("Transfer-Encoding: chunked",)])
def test_a_body_of_no_certain_length_is_refused(server, headers):
    with connect(server) as connection:
        connection.sendall(head(server, "POST", "clock", *headers))
        assert answer(connection).startswith("HTTP/1.1 411 ")


def test_a_body_that_does_not_come_is_answered(server):
    with connect(server) as connection:
        connection.sendall(head(server, "POST", "clock", "Content-Length: 17") + b'{"ru')
        assert answer(connection).startswith("HTTP/1.1 408 ")


def test_bytes_that_drip_in_do_not_hold_a_connection(server):
    with connect(server) as connection:
        with contextlib.suppress(OSError):
            for byte in head(server, "GET", "", f"X-Long: {'x' * 600}"):
                connection.sendall(bytes([byte]))
                time.sleep(0.05)  # each well within the time of a single read; 35 seconds for all
                if not server._due and not _open(connection):
                    break
        assert not _open(connection)


def _open(connection):
    connection.setblocking(False)
    try:
        return connection.recv(4096) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        connection.setblocking(True)


def test_no_more_connections_than_a_browser_needs(server):
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(connect(server)).sendall(b"GET /")
        time.sleep(0.2)
        with connect(server) as one_more:
            assert answer(one_more) == "HTTP/1.1 503 Service Unavailable"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:  # their threads end, and the page can be opened
        with connect(server) as connection:
            connection.sendall(head(server, "GET", "page.css"))
            if answer(connection) == "HTTP/1.1 200 OK":
                return
    raise AssertionError("the connections were never given back")


def test_an_unread_body_is_not_the_next_request(server):
    inner = head(server, "POST", "clock", "Content-Length: 17") + b'{"running": true}'
    with connect(server) as connection:
        connection.sendall(head(server, "GET", "page.css", f"Content-Length: {len(inner)}") + inner)
        while connection.recv(65536):
            pass
    assert not hasattr(server.session, "running")


def test_the_token_is_in_no_log(server, caplog):
    with caplog.at_level(logging.DEBUG), connect(server) as connection:
        connection.sendall(head(server, "GET", "page.css"))
        assert answer(connection) == "HTTP/1.1 200 OK"
    assert "/TOKEN/page.css" in caplog.text and server.token not in caplog.text
