"""`actswm report`: runs and results on one page that can be sent to anybody."""

from __future__ import annotations

from pathlib import Path

import typer

from .arguments import file_to_write
from .printing import say


def report(
    paths: list[Path] = typer.Argument(
        ..., help="Run folders, results (--json files, plan folders), pictures, or folders of them."
    ),
    out: Path = typer.Option(Path("report.html"), "--out", "-o", help="HTML file to write.", callback=file_to_write),
    title: str = typer.Option("Is the world model action-sensitive?", help="Heading of the page."),
    films: int = typer.Option(2, min=0, help="Episodes of each planning task to show as films."),
) -> None:
    """Make one self-contained HTML page of training runs, diagnosis, planning and recovery results.

    Example: actswm report runs/demo --out report.html
    """
    from ..report.page import build_page, write_page
    from ..report.sources import gather

    page = build_page(gather(paths), title, films)
    write_page(page, out)
    shown = ", ".join(section.short.lower() for section in page.sections)
    say(f"{out}: {out.stat().st_size / 1e6:.1f} MB; {shown}")
