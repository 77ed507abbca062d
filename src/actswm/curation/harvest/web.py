"""yt-dlp behind two questions: which videos does a URL or a search stand for, and fetch me this one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import UserError
from .addresses import Guard, guarded
from .trouble import Trouble
from .video import Video, from_info


@dataclass(frozen=True)
class Manners:
    """How to behave towards a site."""

    pause: float = 10.0
    """Seconds between downloads."""
    lookup_pause: float = 3.0
    rate: int = 4_000_000
    """Bytes a second, at most."""
    patience: float = 120.0
    """Longest Retry-After, in seconds, that is waited for."""
    timeout: float = 30.0
    tries: int = 3
    height: int = 720
    """Highest picture that is asked for."""


def load() -> Any:
    try:
        import yt_dlp
    except ImportError:
        raise UserError("video from the web needs yt-dlp: pip install 'actswm[web]'") from None
    return yt_dlp


class Web:
    """One client of a run. `named` are the URLs that the user gave."""

    def __init__(self, manners: Manners, named: list[str], archive: Path | None = None) -> None:
        self.manners, self.guard, self.archive = manners, Guard(named), archive
        self._last: dict[str, float] = {}

    def find(self, url: str, most: int) -> Iterator[Video]:
        """The videos of a page, list, feed or search, without their contents; at most `most`."""
        left = most
        for info in self._entries(url, most, depth=0):
            if left == 0:
                return
            left -= 1
            yield from_info(info, url)

    def _entries(self, url: str, most: int, depth: int) -> Iterator[dict[str, Any]]:
        info = self._ask(url, {"extract_flat": "in_playlist", "playlistend": most})
        entries = info.get("entries")
        if entries is None:
            yield info
            return
        for entry in entries:
            if entry is None:
                continue
            if depth < 2 and (entry.get("entries") is not None or entry.get("_type") == "playlist"):
                yield from self._entries(entry.get("webpage_url") or entry["url"], most, depth + 1)
            else:
                yield entry

    def look_up(self, video: Video) -> dict[str, Any]:
        info = self._ask(video.url, {"noplaylist": True})
        while info.get("entries") is not None:  # a page with one video in it
            entries = [entry for entry in info["entries"] if entry]
            if not entries:
                raise Trouble("not a video", f"{video.url}: holds no video")
            info = entries[0]
        return info

    def fetch(self, video: Video, info: dict[str, Any], target: Path) -> None:
        """Bring a video that was looked up to `target`; a broken-off one is continued where it stopped."""
        self._wait("download", self.manners.pause)
        options = {"outtmpl": {"default": str(target).replace("%", "%%")}}
        self._with_patience(
            video.url, options, lambda client: client.process_ie_result(dict(info), download=True)
        )

    def archived(self, info: dict[str, Any]) -> bool:
        return self.archive is not None and bool(self._client({}).in_download_archive(info))

    def remember(self, info: dict[str, Any]) -> None:
        if self.archive is not None:
            self._client({}).record_download_archive(info)

    def _ask(self, url: str, options: dict[str, Any]) -> dict[str, Any]:
        self._wait("look-up", self.manners.lookup_pause)
        info = self._with_patience(url, options, lambda client: client.extract_info(url, download=False))
        if info is None:
            raise Trouble("unavailable", f"{url}: the site told nothing about it")
        return info

    def _with_patience(self, url: str, options: dict[str, Any], work: Callable[[Any], Any]) -> Any:
        """A site that says when to come back is asked again then, once."""
        for last in (False, True):
            refused = len(self.guard.refused)
            client = self._client(options)
            try:
                with guarded(self.guard), client:
                    result = work(client)
                    return client.sanitize_info(result) if result else result
            except load().utils.YoutubeDLError as error:
                if len(self.guard.refused) > refused:
                    raise Trouble(
                        "private address",
                        f"{url}: leads to {self.guard.refused[-1]}, which was not named; name it to allow it",
                    ) from None
                wait = _retry_after(error)
                if wait is None or last or wait > self.manners.patience:
                    raise _trouble(url, error) from None
                time.sleep(wait)
        raise AssertionError

    def _wait(self, what: str, pause: float) -> None:
        """Between two of a kind; before the first nobody waits."""
        now = time.monotonic()
        if what in self._last and (left := self._last[what] + pause - now) > 0:
            time.sleep(left)
        self._last[what] = time.monotonic()

    def _client(self, options: dict[str, Any]) -> Any:
        yt_dlp = load()
        from yt_dlp.networking._urllib import UrllibRH

        class Client(yt_dlp.YoutubeDL):  # type: ignore[name-defined, misc]
            def build_request_director(self, handlers: Any, preferences: Any = None) -> Any:
                # Others dial in C or in threads of their own, where the guard sees nothing.
                return super().build_request_director([UrllibRH], ())

        manners = self.manners
        return Client(
            {
                "quiet": True,
                "no_warnings": True,
                "noprogress": True,
                "logger": _Silent(),
                "color": "never",
                "cachedir": False,
                "format": f"bv*[height<={manners.height}]/b[height<={manners.height}]/bv*/b",
                "fixup": "never",
                "updatetime": False,
                "continuedl": True,
                "overwrites": False,
                "ratelimit": manners.rate or None,
                "sleep_interval_requests": manners.lookup_pause,
                "socket_timeout": manners.timeout,
                "retries": manners.tries,
                "extractor_retries": manners.tries,
                "fragment_retries": manners.tries,
                "retry_sleep_functions": {"http": lambda n: min(n, 5), "extractor": lambda n: min(n, 5)},
                "hls_prefer_native": True,
                "external_downloader": {"default": "native"},
                "enable_file_urls": False,
                "download_archive": str(self.archive) if self.archive else None,
                **options,
            }
        )


class _Silent:
    """Errors come as exceptions; the rest is not for a log of ours."""

    def debug(self, message: str) -> None: ...

    info = warning = error = debug


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen or not isinstance(one, BaseException):
            continue
        seen.add(id(one))
        yield one
        told = getattr(one, "exc_info", None)
        waiting += [told[1] if told else None, getattr(one, "cause", None), one.__cause__, one.__context__]


def _retry_after(error: BaseException) -> float | None:
    for cause in _causes(error):
        if getattr(cause, "status", None) in (429, 503):
            value = cause.response.headers.get("Retry-After")  # type: ignore[attr-defined]
            try:
                return max(0.0, float(value))
            except (TypeError, ValueError):
                return None
    return None


_STATUS = {401: "refused", 403: "refused", 404: "not found", 410: "not found", 429: "rate limited"}


def _trouble(url: str, error: BaseException) -> Trouble:
    yt_dlp = load()
    causes = list(_causes(error))
    text = str(error).removeprefix("ERROR: ")
    for cause in causes:
        status = getattr(cause, "status", None)
        if isinstance(status, int):
            return Trouble(
                _STATUS.get(status, "server error" if status >= 500 else "refused"), f"{url}: HTTP {status}"
            )
    if "No space left" in text:
        return Trouble("disk full", f"{url}: no space left; free some and run again")
    from yt_dlp.networking.exceptions import IncompleteRead, TransportError

    if any(isinstance(cause, (IncompleteRead, yt_dlp.utils.ContentTooShortError)) for cause in causes) or (
        "more expected" in text
    ):
        return Trouble("wrong length", f"{url}: the server sent less than it said")
    if any(isinstance(cause, TimeoutError) for cause in causes) or "timed out" in text:
        return Trouble("too slow", f"{url}: nothing came in time")
    if any(isinstance(cause, (TransportError, ConnectionError)) for cause in causes) or "onnection" in text:
        return Trouble("connection", f"{url}: {text}")
    if "Did not get any data blocks" in text:
        return Trouble("empty", f"{url}: the server sent nothing")
    if (
        any(isinstance(cause, yt_dlp.utils.UnsupportedError) for cause in causes)
        or "No video formats" in text
    ):
        return Trouble("not a video", f"{url}: is no video that yt-dlp knows")
    return Trouble("unavailable", f"{url}: {text}")
