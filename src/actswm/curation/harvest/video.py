"""A source video: where it comes from, and what may be done with it."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

_LONGEST = 500
"""Characters of a text from the web that are kept."""


@dataclass(frozen=True)
class Video:
    """`url` for the web, `path` for local files; unknown texts are empty."""

    id: str
    url: str = ""
    path: str = ""
    title: str = ""
    uploader: str = ""
    licence: str = ""
    date: str = ""
    """YYYYMMDD"""
    duration: float | None = None
    bytes: int | None = None
    found_by: str = ""
    """What the user named that led here."""

    @property
    def name(self) -> str:
        return self.title or self.url or self.path

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Video:
        return cls(**{name: content[name] for name in cls.__dataclass_fields__ if name in content})


def id_of(key: str) -> str:
    """The name of a video in our folders: letters and digits only, whatever its site calls it."""
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def from_info(info: dict[str, Any], found_by: str, *, id: str = "", path: str = "") -> Video:
    """From what yt-dlp tells about a video, flat entries of lists included."""
    url = _text(info.get("webpage_url") or info.get("original_url") or info.get("url"))
    bits = info.get("tbr") or 0
    duration = _number(info.get("duration"))
    size = _number(info.get("filesize") or info.get("filesize_approx"))
    if size is None and duration and bits:
        size = duration * bits * 125
    return Video(
        id or id_of(url or path),
        url,
        path,
        _text(info.get("title")),
        _text(info.get("uploader") or info.get("channel") or info.get("creator")),
        _text(info.get("license")),
        _text(info.get("upload_date")),
        duration,
        None if size is None else round(size),
        found_by,
    )


def _text(value: Any) -> str:
    text = "" if value is None else str(value)
    return "".join(letter if letter.isprintable() else " " for letter in text)[:_LONGEST].strip()


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
