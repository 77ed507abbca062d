"""What `actswm harvest` says: the plan in numbers, how the stages go, what came out, and what failed why."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import typer
from rich.table import Table

from ..curation.harvest.pipeline import Harvest, News
from ..curation.harvest.plan import forecast
from ..curation.harvest.summary import hours_by_stage
from ..curation.harvest.video import Video
from .printing import say, text_console


def news_of(move: Callable[..., None]) -> News:
    started: dict[str, float] = {}

    def news(stage: str, done: int, total: int, seconds: float) -> None:
        begun = started.setdefault(stage, time.monotonic())
        passed = time.monotonic() - begun
        rate = (
            f"{seconds / passed:.1f} hours per hour" if seconds and passed > 1 and stage != "download" else ""
        )
        move(stage, done, total, rate)

    return news


def show_plan(harvest: Harvest, videos: list[Video]) -> None:
    told = forecast(harvest.plan, videos, harvest.ways.manners, harvest.folder.root)
    say(f"{told.videos} of {len(videos)} videos, {told.hours:.2f} hours ({told.unknown} of unknown length)")
    say(
        f"to download: about {told.bytes / 1e9:.2f} GB in {told.download_hours:.2f} hours with pauses; "
        f"{told.free_bytes / 1e9:.1f} GB are free"
    )
    wanted = f" of {harvest.plan.budget.hours:g} wanted" if harvest.plan.budget.hours else ""
    say(f"likely kept: {told.kept_hours:.2f} hours{wanted} ({harvest.plan.settings.kept:.0%} of the footage)")
    if harvest.plan.licences:
        say(
            f"licence wanted: {', '.join(harvest.plan.licences)}; {told.licence_unknown} do not tell theirs yet"
        )


def tell(harvest: Harvest, root: Path) -> None:
    table = Table("stage", "videos", "hours in", "hours out", "left out")
    for row in hours_by_stage(harvest.folder):
        reasons = ", ".join(f"{why} {hours:.3f} h" for why, hours in row.rejected.items())
        table.add_row(
            row.stage, str(row.videos), f"{row.hours_in:.3f}", f"{row.hours_out:.3f}", reasons or "nothing"
        )
    text_console().print(table)
    did = ", ".join(f"{name} {count}" for name, count in harvest.outcome.done.items())
    say(f"done now: {did or 'nothing was missing'}; clips in {root}")
    for why, count in harvest.outcome.skipped.items():
        say(f"left out: {count} videos ({why})")


def end(harvest: Harvest) -> None:
    failures = harvest.outcome.failures
    for failure in failures:
        say(f"failed: {failure.stage}: {failure.message}", err=True)
    if failures:
        counted = ", ".join(
            f"{reason} {count}" for reason, count in Counter(f.reason for f in failures).most_common()
        )
        say(f"{len(failures)} failed: {counted}", err=True)
        raise typer.Exit(1)
