"""`actswm results`: published tables, made from result files."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from .printing import say

app = typer.Typer(
    help="Tables of results.\n\nExample: actswm results table drift results/freedoom-maze/*drift.json",
    no_args_is_help=True,
)
Kind = Literal[
    "drift",
    "paper",
    "bound",
    "fidelity",
    "pose",
    "seeds",
    "plan",
    "recover",
    "idm",
    "idm-controls",
    "idm-games",
    "idm-foreign",
]


@app.command()
def table(
    kind: Kind = typer.Argument(..., help="Which table."),
    files: list[Path] = typer.Argument(
        ..., help="What commands wrote with --json; models of all files are rows."
    ),
    rows: str = typer.Option(
        "", help="Only these models, with commas; otherwise those of rows.json, or all."
    ),
) -> None:
    """Print one Markdown table of result files. Labels and order come from rows.json beside their folders.

    Example: actswm results table drift results/freedoom-maze/*drift.json
    """
    from ..report.tables.tables import table_of

    say(table_of(kind, files, rows.split(",") if rows else ()))


@app.command()
def fill(
    page: Path = typer.Argument(
        ..., help="A Markdown page with <!-- actswm results table ... --> above its tables."
    ),
) -> None:
    """Write every table of a page anew, each by the command in the comment above it.

    Example: actswm results fill docs/results.md
    """
    from ..atomic import write_whole
    from ..errors import UserError
    from ..report.tables.pages import filled
    from ..report.tables.tables import table_of

    command = typer.main.get_command(app).commands["table"]  # type: ignore[attr-defined]

    def printed(words: list[str]) -> str:
        given = command.make_context("table", words).params
        return table_of(given["kind"], given["files"], given["rows"].split(",") if given["rows"] else ())

    if not page.is_file():
        raise UserError(f"{page}: no such page")
    try:
        old = page.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{page}: is no page of text ({error})") from None
    new = filled(old, printed)
    if new != old:
        write_whole(page, new)
    say(f"{page}: {'written anew' if new != old else 'is what the results say'}")
