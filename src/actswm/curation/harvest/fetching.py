"""Download: one video is brought here, unless it is here already or there is a reason to leave it out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from .plan import Plan
from .records import Folder
from .stages import sha256
from .trouble import Trouble
from .video import Video, from_info
from .web import Web


class LeftOut(Exception):
    """Not fetched, and that is no failure; the text is the reason in a word."""


class Fetcher:
    """Videos of a plan into a folder's `sources`; local ones stay where they are."""

    def __init__(self, folder: Folder, plan: Plan, web: Web) -> None:
        self._folder, self._plan, self._web = folder, plan, web

    def bring(self, video: Video) -> dict[str, Any]:
        """The record of a video that is here now."""
        return self._local(video) if video.path else self._fetch(video)

    def _local(self, video: Video) -> dict[str, Any]:
        if not self._plan.allows(video.licence):
            raise LeftOut("licence")
        return _record(video, Path(video.path), "local", video.to_json())

    def _fetch(self, video: Video) -> dict[str, Any]:
        info = self._web.look_up(video)
        told = replace(from_info(info, video.found_by, id=video.id), url=video.url)
        if not self._plan.allows(told.licence):
            raise LeftOut("licence")
        if info.get("is_live"):
            raise LeftOut("live")
        if self._web.archived(info):
            raise LeftOut("archive")
        target = self._folder.sources / f"{video.id}.media"
        if not target.exists():  # it does, if a run died between the download and its record
            self._download(video, info, target)
        if target.stat().st_size == 0:
            target.unlink()
            raise Trouble("empty", f"{video.url}: the server sent an empty video")
        self._web.remember(info)
        merged = {key: value for key, value in told.to_json().items() if value} | {"found_by": video.found_by}
        format = str(info.get("format") or info.get("ext") or "")
        return _record(video, target.resolve(), format, video.to_json() | merged)

    def _download(self, video: Video, info: dict[str, Any], target: Path) -> None:
        part = target.with_name(f"{target.name}.part")
        try:
            self._web.fetch(video, info, target)
        except Trouble as trouble:
            if trouble.reason == "empty" and part.is_file() and part.stat().st_size:
                # Asked for the rest of what it had promised, the server had nothing.
                raise Trouble("wrong length", f"{video.url}: the server sent less than it said") from None
            raise
        if not target.is_file():
            raise Trouble("unavailable", f"{video.url}: yt-dlp left no file")


def _record(video: Video, path: Path, format: str, told: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": video.id,
        "path": str(path),
        "sha256": sha256(path),
        "bytes": path.stat().st_size,
        "format": format,
        "video": told,
    }
