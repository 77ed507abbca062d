"""`actswm`: one thin command per capability. Heavy imports wait until a command needs them."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
from typing import NoReturn

import typer

from ..errors import UserError
from ..processes import interrupts_come_through, settle_temporary_folder
from . import bench, exchange, harvest, hud, replay, result_tables, tasks
from .annotate import annotate
from .bench_annotate import bench_annotate
from .bench_harvest import bench_harvest
from .clean import clean
from .decoder import decoder
from .demo import demo
from .drift import drift
from .export import export
from .fidelity import fidelity
from .idm import idm
from .idm_score import idm_score
from .inspect import inspect
from .last_resort import BUG, refusal, write_details
from .merge import merge
from .models import models
from .plan import plan
from .play import play
from .printing import TextFormatter, one_line
from .record import record
from .recover import recover
from .report import report
from .score import score
from .sheet import sheet
from .strip import strip
from .train import train
from .usage import Commands

app = typer.Typer(
    name="actswm",
    cls=Commands,
    help="Action-sensitive latent world models for games: record, train, diagnose, plan, recover, play.\n\n"
    "Example: actswm record freedoom/room --steps 20000 --size 64 --out room.h5",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(record)
app.command()(clean)
app.add_typer(exchange.import_app, name="import")
app.add_typer(harvest.app, name="harvest")
app.add_typer(hud.app, name="hud")
app.add_typer(replay.app, name="replay")
app.command()(merge)
app.command()(inspect)
app.command()(models)
app.command()(train)
app.command()(decoder)
app.command()(export)
app.command()(plan)
app.command()(recover)
app.command()(idm)
app.command("idm-score")(idm_score)
app.command()(score)
app.command()(annotate)
app.command()(drift)
app.command()(fidelity)
app.command()(sheet)
app.command()(strip)
app.command()(report)
app.add_typer(result_tables.app, name="results")
app.command()(play)
bench.app.command("harvest")(bench_harvest)
bench.app.command("annotate")(bench_annotate)
app.add_typer(bench.app, name="bench")
app.add_typer(tasks.app, name="tasks")


@app.callback()
def main(verbose: bool = typer.Option(False, "--verbose", "-v", help="Log what happens in detail.")) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(TextFormatter("%(name)s: %(message)s"))
    logging.basicConfig(level=logging.DEBUG if verbose else logging.WARNING, handlers=[handler])


def run() -> None:
    """Console entry point: bad input ends in one line and exit code 2, Ctrl+C in 130, our own faults in 70."""
    # Threads that wait for each other sleep: spinning, two of them on a busy machine take 20 times as long as one.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    settle_temporary_folder()
    interrupts_come_through()
    # When all is done there is nothing to interrupt but the interpreter's clearing up, which would show a traceback.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    try:
        app()
    except UserError as error:
        _end(one_line(error), 2)
    except KeyboardInterrupt:
        _end("interrupted", 130)
    except SystemExit as end:
        if end.code == 130:  # typer's answer to Ctrl+C, without a word
            _end("interrupted", 130)
        raise
    except Exception as error:
        if isinstance(error, OSError) and (line := refusal(error)):
            _end(line, 2)
        what = one_line(f"{type(error).__name__}: {error}")[:200]
        _end(f"this is a bug in actswm ({what}); please report it with the details in {write_details(error)}", BUG)


def _end(line: str, code: int) -> NoReturn:
    sys.stderr.write(f"actswm: {line}\n")
    sys.exit(code)
