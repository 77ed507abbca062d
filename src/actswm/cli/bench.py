"""`actswm bench`: side-by-side measurements; ratios from one run, written as JSON on request."""

from __future__ import annotations

import typer

app = typer.Typer(help="Measure side by side in one run and print ratios.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Each benchmark prints its ratios and writes them with `--json FILE`."""
