"""`actswm clean` and `actswm import`: recordings of play become a dataset file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from ..curation.report import RunReport
    from ..curation.run import RunOptions
    from ..curation.settings import CleanSettings
    from ..curation.sources import Item

import_app = typer.Typer(
    help="Bring recordings of other projects into a dataset file.\n\n"
    "Example: actswm import vpt contractor/ --out vpt.h5",
    no_args_is_help=True,
)

_OUT = typer.Option(..., "--out", "-o", help="Dataset file (.h5) to write.")
_SIZE = typer.Option(128, help="Height and width of the frames in pixels; the picture is stretched to it.")
_WORKERS = typer.Option(1, min=1, help="Processes that clean at the same time.")
_EXECUTOR = typer.Option("processes", help="processes (this machine) or ray (a Ray cluster).")
_DRY = typer.Option(False, "--dry-run", help="Tell what would be kept; write nothing.")
_COMPRESSION = typer.Option(None, help="blosc-zstd where disk is short.")


def clean(
    recordings: list[Path] = typer.Argument(help="OWAMcap recordings (.mcap), or folders of them."),
    out: Path = _OUT,
    domain: str = typer.Option("games", help="cs2, gta5, apex, minecraft, or games (this project's own)."),
    vocabulary: str = typer.Option("keys14", help="keys14 or minecraft."),
    key_map: Path = typer.Option(None, help="JSON key map in place of the domain's (see docs/cleaning.md)."),
    size: int = _SIZE,
    judge: str = typer.Option("embedded", help="embedded (OCR and rules), rules, none, online or batch."),
    judge_model: str = typer.Option(None, help="online, batch: model to ask."),
    judge_url: str = typer.Option(None, help="online, batch: base URL of an OpenAI-compatible service."),
    judge_key: str = typer.Option("OPENAI_API_KEY", help="online, batch: environment variable with the key."),
    judge_threads: int = typer.Option(8, min=1, help="online: requests under way at once, per worker."),
    judge_rate: int = typer.Option(None, min=1, help="online: requests a minute, all workers together."),
    judge_budget: int = typer.Option(
        None, min=0, help="online: most requests of this run, retries included."
    ),
    batch_submit: bool = typer.Option(
        False, help="batch: hand the questions to the service (else: carry the files)."
    ),
    batch_wait: float = typer.Option(0.0, help="batch: seconds to wait for the answers."),
    silence: float = typer.Option(2.0, help="Drop stretches without any input message longer than this (s)."),
    death_window: float = typer.Option(5.0, help="Drop this long after each death record (s)."),
    segments: Path = typer.Option(None, help="Folder that gets each episode as MKV + MCAP, to look at."),
    compression: str = _COMPRESSION,
    workers: int = _WORKERS,
    executor: str = _EXECUTOR,
    dry_run: bool = _DRY,
) -> None:
    """Clean paired recordings (MCAP inputs + MKV video) into a dataset file.

    Beside the file appear a summary (JSON), a page with thumbnails of kept and rejected frames (HTML) and a manifest;
    the same command again does only what is new or had failed. Exit code 1: some recordings failed; 3: batch answers
    are awaited.

    Example: actswm clean recordings/ --domain cs2 --out cs2.h5 --workers 2
    """
    from ..controls import vocabulary_of
    from ..curation.domains import domain_of
    from ..curation.judging.service import ServiceSettings
    from ..curation.prefilter import PrefilterRules
    from ..curation.run import RunOptions
    from ..curation.settings import CleanSettings
    from ..curation.sources import find_items
    from ..errors import UserError
    from ..formats.keymap import KeyMap

    _one_of("--judge", judge, ("embedded", "rules", "none", "online", "batch"))
    _one_of("--executor", executor, ("processes", "ray"))
    service = None
    if judge in ("online", "batch"):
        if not judge_model:
            raise UserError(f"--judge {judge} needs --judge-model")
        rate = max(1, judge_rate // workers) if judge_rate else None
        service = ServiceSettings(
            judge_model, judge_url, judge_key, judge_threads, requests_per_minute=rate, budget=judge_budget
        )
    own_keys = KeyMap.from_file(key_map) if key_map else None
    settings = CleanSettings(
        domain_of(domain),
        own_keys.vocabulary if own_keys else vocabulary_of(vocabulary),
        own_keys,
        size,
        size,
        judge,  # type: ignore[arg-type]  # checked above
        service,
        PrefilterRules(silence_ns=round(silence * 1e9), death_ns=round(death_window * 1e9)),
        compression=compression,
    )
    options = RunOptions(workers, executor, dry_run, segments, batch_submit, batch_wait)  # type: ignore[arg-type]
    _run(find_items("owamcap", recordings), out, settings, options)


@import_app.command("vpt")
def import_vpt(
    recordings: list[Path] = typer.Argument(
        help="VPT action files (.jsonl, each beside its .mp4), or folders."
    ),
    out: Path = _OUT,
    size: int = _SIZE,
    compression: str = _COMPRESSION,
    workers: int = _WORKERS,
    executor: str = _EXECUTOR,
    dry_run: bool = _DRY,
) -> None:
    """Import VPT contractor recordings with the Minecraft vocabulary; frames with an open window are dropped.

    Example: actswm import vpt contractor/ --out vpt.h5
    """
    _import("vpt", recordings, out, size, compression, workers, executor, dry_run)


@import_app.command("minestudio")
def import_minestudio(
    folders: list[Path] = typer.Argument(help="MineStudio datasets: folders with action/ and image/ inside."),
    out: Path = _OUT,
    size: int = _SIZE,
    compression: str = _COMPRESSION,
    workers: int = _WORKERS,
    executor: str = _EXECUTOR,
    dry_run: bool = _DRY,
) -> None:
    """Import MineStudio LMDB trajectories with the Minecraft vocabulary.

    Example: actswm import minestudio datasets/6xx --out minestudio.h5 --workers 2
    """
    _import("minestudio", folders, out, size, compression, workers, executor, dry_run)


def _import(
    kind: str,
    paths: list[Path],
    out: Path,
    size: int,
    compression: str | None,
    workers: int,
    executor: str,
    dry_run: bool,
) -> None:
    from ..controls import MINECRAFT
    from ..curation.domains import domain_of
    from ..curation.run import RunOptions
    from ..curation.settings import CleanSettings
    from ..curation.sources import find_items

    _one_of("--executor", executor, ("processes", "ray"))
    settings = CleanSettings(
        domain_of("minecraft"), MINECRAFT, None, size, size, judge="none", compression=compression
    )
    options = RunOptions(workers, executor, dry_run)  # type: ignore[arg-type]
    _run(find_items(kind, paths), out, settings, options)  # type: ignore[arg-type]


def _run(items: list[Item], out: Path, settings: CleanSettings, options: RunOptions) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from ..curation.run import clean as run

    bar = Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    recordings = bar.add_task("recordings", total=len(items))
    frames = bar.add_task("frames", total=None, visible=False)

    def finished(name: str, done: int, total: int) -> None:
        bar.start()
        bar.update(recordings, completed=done, total=total, description=name)

    def progress(done: int, total: int) -> None:
        if done % 50 == 0 or done == total:
            bar.start()
            bar.update(frames, completed=done, total=total, visible=True)

    try:
        report = run(items, out, settings, options, finished, progress)
    finally:
        if bar.live.is_started:  # bad input shows one line and no bar
            bar.stop()
    _show(report, out, options.dry)


def _show(report: RunReport, out: Path, dry: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if report.waiting:
        console.print(
            f"{report.waiting:,} questions are with the judge: files in {out}.work/batch; "
            "put the answers there as *.results.jsonl (or use --batch-submit) and run the same command again"
        )
    if report.recordings:
        table = Table("stage", "frames in", "dropped", "frames out")
        for stage, row in report.stages().items():
            reasons = ", ".join(f"{why.replace('_', ' ')} {count:,}" for why, count in row["dropped"].items())
            table.add_row(stage, f"{row['in']:,}", reasons or "none", f"{row['out']:,}")
        console.print(table)
        where = "would be kept" if dry else f"kept in {out}"
        again = f" ({report.reused} recordings were done before)" if report.reused else ""
        console.print(
            f"{report.kept:,} frames, {report.hours_kept:.3f} hours {where}{again}", highlight=False
        )
    errors = Console(stderr=True, soft_wrap=True)
    for failure in report.failures:
        errors.print(f"failed: {failure.name}: {failure.message}", highlight=False, markup=False)
    if report.failures:
        raise typer.Exit(1)
    if report.waiting:
        raise typer.Exit(3)


def _one_of(option: str, value: str, known: tuple[str, ...]) -> None:
    from ..errors import UserError

    if value not in known:
        raise UserError(f"{option} {value!r} is unknown; use one of: {', '.join(known)}")
