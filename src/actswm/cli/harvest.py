"""`actswm harvest`: public video becomes clean, mute clips, in one go or stage by stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from .arguments import EXECUTOR, Executor
from .harvest_options import PACK, Wanted, asks_what
from .printing import say

app = typer.Typer(
    help="Public video into clean, mute clips: discover, download, normalise, cut, filter, export.\n\n"
    'Example: actswm harvest --domain gta5 --keywords "gta 5 first person" --hours 250 --out clips',
    invoke_without_command=True,
    no_args_is_help=True,
)

_OUT = typer.Option(None, "--out", "-o", help="Folder for the clips; the same command again goes on there.")
_PAUSE = typer.Option(10.0, min=0.0, help="Seconds between downloads; a third of it between look-ups.")
_RATE = typer.Option("4M", help="Bytes a second of a download, at most; 0: no limit.")
_TIMEOUT = typer.Option(30.0, min=0.1, help="Seconds in which a server must answer.")
_ARCHIVE = typer.Option(
    None, help="yt-dlp's archive file: what stands in it is not fetched, what is fetched is added."
)
_WORKERS = typer.Option(1, min=1, help="Processes that work at the same time (downloads come one by one).")
_FOLDER = typer.Argument(help="Folder of a harvest.")


@app.callback()
@asks_what
def harvest(
    context: typer.Context,
    wanted: Wanted,
    out: Path = _OUT,
    pause: float = _PAUSE,
    rate: str = _RATE,
    timeout: float = _TIMEOUT,
    archive: Path = _ARCHIVE,
    workers: int = _WORKERS,
    executor: Executor = EXECUTOR,
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Look up what there is and tell the plan; fetch no video."
    ),
    review: bool = typer.Option(
        False, "--review", help="Afterwards, serve the page on which verdicts can be overruled."
    ),
) -> None:
    """Public video into clean, mute clips: all stages of Algorithm 2, or one of the commands below.

    Only what you name is asked for. The same command again goes on where the last one stopped. Exit code 1: some
    videos failed, counted by reason.

    Example: actswm harvest --domain gta5 --keywords "gta 5 first person" --hours 250 --out clips
    """
    if context.invoked_subcommand is not None:
        return
    from ..curation.harvest.sheet import write_sheet
    from .harvest_plan import manners_of, plan_of, required
    from .harvest_report import end, show_plan, tell
    from .harvest_work import at_work, review_page

    plan, root = plan_of(wanted), required(out)
    with at_work(root, plan, manners_of(pause, rate, timeout), archive, workers, executor) as harvest:
        if dry_run:
            show_plan(harvest, harvest.discover())
        else:
            harvest.run()
            write_sheet(root)
    if not dry_run:
        tell(harvest, root)
        if review:
            review_page(root, 0)
    end(harvest)


@app.command()
@asks_what
def discover(
    wanted: Wanted,
    out: Path = _OUT,
    pause: float = _PAUSE,
    refresh: bool = typer.Option(False, help="Ask the sites again."),
) -> None:
    """Stage 1: write down the plan and which videos there are (harvest/discover.jsonl).

    Example: actswm harvest discover --domain minetest --local videos --out clips
    """
    from .harvest_plan import manners_of, plan_of, required
    from .harvest_report import end, show_plan
    from .harvest_work import at_work

    plan, root = plan_of(wanted), required(out)
    with at_work(root, plan, manners_of(pause, "4M", 30.0), None, 1, "processes") as harvest:
        show_plan(harvest, harvest.discover(refresh))
    end(harvest)


@app.command()
def download(
    folder: Path = _FOLDER,
    pause: float = _PAUSE,
    rate: str = _RATE,
    timeout: float = _TIMEOUT,
    archive: Path = _ARCHIVE,
) -> None:
    """Stage 2: fetch the videos, one at a time (harvest/sources).

    Example: actswm harvest download clips --pause 10
    """
    from .harvest_plan import manners_of

    _one(folder, "download", manners=manners_of(pause, rate, timeout), archive=archive)


@app.command()
def normalise(folder: Path = _FOLDER, workers: int = _WORKERS, executor: Executor = EXECUTOR) -> None:
    """Stage 3: find each video's times, holes and black bars; nothing is encoded anew.

    Example: actswm harvest normalise clips --workers 2
    """
    _one(folder, "normalise", workers=workers, executor=executor)


@app.command()
def cut(folder: Path = _FOLDER, workers: int = _WORKERS, executor: Executor = EXECUTOR) -> None:
    """Stage 4: find where scenes begin, and take sample pictures.

    Example: actswm harvest cut clips --workers 2
    """
    _one(folder, "cut", workers=workers, executor=executor)


@app.command("filter")
def filter_(
    folder: Path = _FOLDER,
    domain: str = typer.Option(None, help="Judge by another domain or file from now on."),
    pack: str = PACK,
    workers: int = _WORKERS,
    executor: Executor = EXECUTOR,
) -> None:
    """Stage 5: judge the scenes; every clip is kept or rejected with a reason.

    Example: actswm harvest filter clips --domain my-minetest.yaml
    """
    _one(folder, "filter", workers=workers, executor=executor, domain=domain, pack=pack)


@app.command()
def export(folder: Path = _FOLDER, workers: int = _WORKERS, executor: Executor = EXECUTOR) -> None:
    """Stage 6: write the kept clips, mute, and their list (clips.jsonl).

    Example: actswm harvest export clips --workers 2
    """
    _one(folder, "export", workers=workers, executor=executor)


@app.command()
def page(
    folder: Path = _FOLDER,
    review: bool = typer.Option(
        False, "--review", help="Serve it on this machine, with buttons to overrule verdicts."
    ),
    port: int = typer.Option(0, min=0, help="Of --review; 0: a free one."),
) -> None:
    """The page to look at: hours by stage, kept and rejected clips by reason (index.html).

    Example: actswm harvest page clips --review
    """
    from ..curation.harvest.sheet import write_sheet
    from .harvest_work import review_page

    say(write_sheet(folder))
    if review:
        review_page(folder, port)


@app.command()
def score(
    folder: Path = _FOLDER,
    json_file: Path = typer.Option(None, "--json", help="Write the figures there."),
) -> None:
    """The filter's precision and recall on the clips that a person has reviewed.

    Example: actswm harvest score clips --json score.json
    """
    from dataclasses import asdict

    from ..curation.harvest.records import Folder
    from ..curation.harvest.reviews import score_filter
    from ..json_files import write_json

    result = score_filter(Folder(folder))
    say(
        f"{result.reviewed} clips, {result.seconds:.1f} s reviewed: precision {_share(result.precision)}, "
        f"recall {_share(result.recall)}"
    )
    if json_file:
        write_json(json_file, asdict(result))


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _one(folder: Path, stage: str, **how: Any) -> None:
    from .harvest_work import run_stage

    run_stage(folder, stage, **how)
