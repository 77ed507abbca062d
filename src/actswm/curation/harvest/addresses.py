"""No request to a private or loopback address that the user did not name, whatever a page, feed or redirect says.

Python tells every connection, with the address that is really dialled, to its audit hooks: that is after redirects,
proxies and name look-ups, so that a public name with a private address is seen through. Other programs would dial
unseen: none is started but those that run a site's JavaScript, which yt-dlp gives no network. The hook stays in the
process and does nothing outside `guarded`.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import sys
import urllib.request
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443, "ftp": 21}
_JAVASCRIPT = {"deno", "node", "bun", "qjs", "qjs-ng", "quickjs"}
_guard: Guard | None = None
_installed = False


class PrivateAddress(OSError):
    """A connection that nobody asked for."""


class Guard:
    """`named` are the addresses behind the URLs that the user gave, and behind the proxies that are set."""

    def __init__(self, urls: Iterable[str]) -> None:
        proxies = urllib.request.getproxies().values()
        self.named = {address for url in (*urls, *proxies) for address in _addresses(url)}
        self.refused: list[str] = []

    def check(self, host: str, port: int) -> None:
        try:
            address = ipaddress.ip_address(host.split("%")[0])
        except ValueError:
            return  # a path of a local socket
        mapped = getattr(address, "ipv4_mapped", None) or address
        if mapped.is_global and not mapped.is_multicast:
            return
        if (str(mapped), port) not in self.named:
            self.refused.append(f"{host}:{port}")
            raise PrivateAddress(f"{host}:{port} is a private address that was not named")


@contextlib.contextmanager
def guarded(guard: Guard) -> Iterator[Guard]:
    """Of the whole process, its threads included."""
    global _guard, _installed
    if not _installed:
        sys.addaudithook(_audit)
        _installed = True
    before, _guard = _guard, guard
    try:
        yield guard
    finally:
        _guard = before


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    guard = _guard
    if guard is None or event not in ("socket.connect", "subprocess.Popen"):
        return
    if event == "subprocess.Popen":
        program = os.path.basename(os.fsdecode(arguments[0]))  # type: ignore[arg-type]  # a path
        if program not in _JAVASCRIPT:
            raise PrivateAddress(f"{program} is not started: where it connects to could not be seen")
        return
    target = arguments[1]
    if isinstance(target, tuple) and len(target) >= 2:
        guard.check(str(target[0]), int(target[1]))


def _addresses(url: str) -> set[tuple[str, int]]:
    """What the host of a URL stands for now; none for search words."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return set()
    if not parts.hostname or port is None:
        return set()
    try:
        literal = ipaddress.ip_address(parts.hostname)
        return {(str(literal), port)}
    except ValueError:
        pass
    with contextlib.suppress(OSError):
        return {
            (str(info[4][0]), port)
            for info in socket.getaddrinfo(parts.hostname, port, 0, socket.SOCK_STREAM)
        }
    return set()
