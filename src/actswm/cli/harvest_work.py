"""Runs of `actswm harvest`: all stages or one of them, alone in a folder, with bars."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..curation.harvest.pipeline import Harvest, Ways
from ..curation.harvest.plan import Plan, within
from ..curation.harvest.records import Folder
from ..curation.harvest.review_server import ReviewServer
from ..curation.harvest.settings import settings_of
from ..curation.harvest.web import Manners
from ..errors import UserError
from .bars import bars
from .harvest_plan import manners_of, pack_name
from .harvest_report import end, news_of, tell
from .printing import say


@contextmanager
def at_work(
    root: Path, plan: Plan, manners: Manners, archive: Path | None, workers: int, executor: str
) -> Iterator[Harvest]:
    if executor not in ("processes", "ray"):
        raise UserError(f"--executor {executor!r} is unknown; use one of: processes, ray")
    with bars() as move:
        ways = Ways(manners, archive, workers, executor, news_of(move))  # type: ignore[arg-type]  # checked above
        harvest = Harvest(root, plan, ways)
        with harvest.alone():
            plan.save(harvest.folder)
            yield harvest


def run_stage(
    root: Path,
    stage: str,
    manners: Manners | None = None,
    archive: Path | None = None,
    workers: int = 1,
    executor: str = "processes",
    domain: str | None = None,
    pack: str | None = None,
) -> None:
    plan = Plan.load(Folder(root))
    if domain or pack:
        settings = settings_of(domain) if domain else plan.settings
        rules = replace(settings.filter, pack=pack_name(pack) if pack else settings.filter.pack)
        kept = plan.settings
        settings = replace(settings, filter=rules, height=kept.height, width=kept.width, fps=kept.fps)
        plan = replace(plan, settings=settings)
    with at_work(root, plan, manners or manners_of(10.0, "4M", 30.0), archive, workers, executor) as harvest:
        videos = within(harvest.videos(), plan.budget)
        getattr(harvest, stage)(videos)
    tell(harvest, root)
    end(harvest)


def review_page(root: Path, port: int) -> None:
    server = ReviewServer(root, port)
    say(f"review at {server.url} (Ctrl+C ends it); then run: actswm harvest export {root}")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
