"""`actswm`: one thin command per capability. Heavy imports wait until a command needs them."""

from __future__ import annotations

import logging
import sys

import typer

from ..errors import UserError
from . import bench, tasks
from .annotate import annotate
from .clean import clean, import_app
from .demo import demo
from .drift import drift
from .export import export
from .fidelity import fidelity
from .idm import idm
from .inspect import inspect
from .merge import merge
from .plan import plan
from .play import play
from .record import record
from .recover import recover
from .report import report
from .score import score
from .sheet import sheet
from .train import train

app = typer.Typer(
    name="actswm",
    help="Action-sensitive latent world models for games: record, train, diagnose, plan, recover, play.\n\n"
    "Example: actswm record freedoom/room --steps 20000 --size 64 --out room.h5",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(record)
app.command()(clean)
app.add_typer(import_app, name="import")
app.command()(merge)
app.command()(inspect)
app.command()(train)
app.command()(export)
app.command()(plan)
app.command()(recover)
app.command()(idm)
app.command()(score)
app.command()(annotate)
app.command()(drift)
app.command()(fidelity)
app.command()(sheet)
app.command()(report)
app.command()(play)
app.add_typer(bench.app, name="bench")
app.add_typer(tasks.app, name="tasks")


@app.callback()
def main(verbose: bool = typer.Option(False, "--verbose", "-v", help="Log what happens in detail.")) -> None:
    logging.basicConfig(level=logging.DEBUG if verbose else logging.WARNING, format="%(name)s: %(message)s")


def run() -> None:
    """Console entry point: bad input ends in one line and exit code 2, Ctrl+C in 130."""
    try:
        app()
    except UserError as error:
        sys.stderr.write(f"actswm: {' '.join(str(error).split())}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("actswm: interrupted\n")
        sys.exit(130)
