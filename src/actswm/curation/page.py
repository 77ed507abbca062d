"""The HTML page on which a person checks the judge: counts, and thumbnails of kept and rejected frames."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..atomic import write_whole
from .report import RunReport

_KEPT = "gameplay"


def write_page(report: RunReport, path: Path, title: str) -> None:
    """One file with the pictures inside; rejected groups come first, since they need checking most."""
    environment = Environment(
        loader=PackageLoader("actswm.curation", "."), autoescape=True, undefined=StrictUndefined
    )
    recordings = [
        (recording, sorted(recording.thumbnails.items(), key=lambda group: (group[0] == _KEPT, group[0])))
        for recording in report.recordings
    ]
    html = environment.get_template("page.html.j2").render(
        title=title, report=report, stages=report.stages(), recordings=recordings, kept=_KEPT
    )
    write_whole(path, html)
