"""What a harvest is asked to do: written down once, so that each stage can go on from it, and told in numbers."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ...json_files import write_json
from .forms import require_form
from .named import Named
from .records import Folder, read_json
from .settings import HarvestSettings, from_content
from .video import Video
from .web import Manners

_ANY_CC = ("creative commons", "cc-by", "cc by", "cc0", "public domain")


@dataclass(frozen=True)
class Budget:
    """None: no limit."""

    hours: float | None = None
    """Of clips that are kept."""
    bytes: int | None = None
    """Of downloads."""
    videos: int | None = None


@dataclass(frozen=True)
class Plan:
    settings: HarvestSettings
    named: Named
    budget: Budget = field(default_factory=Budget)
    licences: tuple[str, ...] = ()

    def save(self, folder: Folder) -> None:
        write_json(
            folder.work / "plan.json",
            {
                "settings": self.settings.describe(),
                "named": asdict(self.named),
                "budget": asdict(self.budget),
                "licences": list(self.licences),
            },
        )

    @classmethod
    def load(cls, folder: Folder) -> Plan:
        folder.require()
        path = folder.work / "plan.json"
        told = read_json(path)
        require_form(told, "plan", path)
        named: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in told["named"].items()
        }
        return cls(
            from_content(told["settings"], str(path)),
            Named(**{name: named[name] for name in Named.__dataclass_fields__}),
            Budget(**{name: told["budget"][name] for name in Budget.__dataclass_fields__}),
            tuple(told["licences"]),
        )

    def allows(self, licence: str) -> bool:
        """`cc` stands for Creative Commons and the public domain; other words must occur in the licence field."""
        wanted: list[str] = []
        for name in self.licences:
            wanted += _ANY_CC if name.casefold() == "cc" else (name.casefold(),)
        return not wanted or any(word in licence.casefold() for word in wanted)


@dataclass(frozen=True)
class Forecast:
    """Numbers before anything is fetched."""

    videos: int
    hours: float
    unknown: int
    """Videos whose length the site does not tell."""
    bytes: int
    download_hours: float
    kept_hours: float
    free_bytes: int
    licence_unknown: int


def forecast(plan: Plan, videos: list[Video], manners: Manners, root: Path) -> Forecast:
    """Lengths and sizes as the sites tell them; 2 Mbit/s where a size is missing."""
    chosen = within(videos, plan.budget)
    seconds = sum(video.duration or 0.0 for video in chosen)
    size = sum(_size(video) for video in chosen if not video.path)
    web = sum(not video.path for video in chosen)
    transfer = size / manners.rate if manners.rate else 0.0
    where = root
    while not where.exists():
        where = where.parent
    return Forecast(
        len(chosen),
        seconds / 3600,
        sum(video.duration is None for video in chosen),
        size,
        (transfer + web * (manners.pause + manners.lookup_pause)) / 3600,
        seconds / 3600 * plan.settings.kept,
        shutil.disk_usage(where).free,
        sum(not video.licence for video in chosen),
    )


def within(videos: list[Video], budget: Budget) -> list[Video]:
    """The first ones, as many as the number and the bytes allow."""
    chosen, size = [], 0
    for video in videos[: budget.videos]:
        size += 0 if video.path else _size(video)
        if budget.bytes is not None and size > budget.bytes:
            break
        chosen.append(video)
    return chosen


def _size(video: Video) -> int:
    return video.bytes if video.bytes is not None else round((video.duration or 0.0) * 250_000)


def summary(forecast: Forecast) -> dict[str, Any]:
    return asdict(forecast)
