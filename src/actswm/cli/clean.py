"""`actswm clean` and `actswm import`: recordings of play become a dataset file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from .arguments import EXECUTOR, Executor, file_to_write
from .bars import bars
from .printing import text_console

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

_OUT = typer.Option(..., "--out", "-o", help="Dataset file (.h5) to write.", callback=file_to_write)
_SIZE = typer.Option(128, min=1, help="Height and width of the frames in pixels; the picture is stretched to it.")
_WORKERS = typer.Option(1, min=1, help="Processes that clean at the same time.")
_DRY = typer.Option(False, "--dry-run", help="Tell what would be kept; write nothing.")
_COMPRESSION = typer.Option(None, help="blosc-zstd where disk is short, or blosc-lz4: larger, and read faster.")


def clean(
    recordings: list[Path] = typer.Argument(help="OWAMcap recordings (.mcap), or folders of them."),
    out: Path = _OUT,
    domain: str = typer.Option("games", help="cs2, gta5, apex, minecraft, or games (this project's own)."),
    vocabulary: str = typer.Option("keys14", help="keys14 or minecraft."),
    key_map: Path = typer.Option(None, help="JSON key map in place of the domain's (see docs/cleaning.md)."),
    size: int = _SIZE,
    fps: float = typer.Option(
        None, min=0.1, help="Resample to so many steps a second (default: the video's frames as they come)."
    ),
    judge: Literal["embedded", "rules", "none", "online", "batch"] = typer.Option(
        "embedded", help="Who says which frames are play; embedded: OCR and rules."
    ),
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
    executor: Executor = EXECUTOR,
    dry_run: bool = _DRY,
) -> None:
    """Clean paired recordings (MCAP inputs + MKV video) into a dataset file.

    Beside the file appear a summary (JSON), a page with thumbnails of kept and rejected frames (HTML) and a manifest;
    the same command again does only what is new or had failed. Exit code 1: some recordings failed, or nothing was
    kept; 3: batch answers are awaited.

    Example: actswm clean recordings/ --domain cs2 --out cs2.h5 --workers 2
    """
    from ..controls import vocabulary_of
    from ..curation.domains import domain_of
    from ..curation.judging.service import ServiceSettings
    from ..curation.prefilter import PrefilterRules
    from ..curation.resampling import require_rate
    from ..curation.run import RunOptions
    from ..curation.settings import CleanSettings
    from ..curation.sources import find_items
    from ..errors import UserError
    from ..formats.keymap import KeyMap

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
        judge,
        service,
        PrefilterRules(silence_ns=round(silence * 1e9), death_ns=round(death_window * 1e9)),
        compression=compression,
        fps=fps,
    )
    if fps:
        require_rate(fps, settings.cuts.gap_ns)
    options = RunOptions(workers, executor, dry_run, segments, batch_submit, batch_wait)
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
    executor: Executor = EXECUTOR,
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
    executor: Executor = EXECUTOR,
    dry_run: bool = _DRY,
) -> None:
    """Import MineStudio LMDB trajectories with the Minecraft vocabulary.

    Example: actswm import minestudio datasets/6xx --out minestudio.h5 --workers 2
    """
    _import("minestudio", folders, out, size, compression, workers, executor, dry_run)


def _import(
    kind: Literal["vpt", "minestudio"],
    paths: list[Path],
    out: Path,
    size: int,
    compression: str | None,
    workers: int,
    executor: Executor,
    dry_run: bool,
) -> None:
    from ..controls import MINECRAFT
    from ..curation.domains import domain_of
    from ..curation.run import RunOptions
    from ..curation.settings import CleanSettings
    from ..curation.sources import find_items

    settings = CleanSettings(
        domain_of("minecraft"), MINECRAFT, None, size, size, judge="none", compression=compression
    )
    options = RunOptions(workers, executor, dry_run)
    _run(find_items(kind, paths), out, settings, options)


def _run(items: list[Item], out: Path, settings: CleanSettings, options: RunOptions) -> None:
    from ..curation.run import clean as run

    with bars() as move:
        report = run(
            items,
            out,
            settings,
            options,
            lambda name, done, total: move("recordings", done, total, name),
            lambda done, total: move("frames", done, total) if done % 50 == 0 or done == total else None,
        )
    _show(report, out, options.dry)


def _show(report: RunReport, out: Path, dry: bool) -> None:
    from rich.table import Table

    console = text_console()
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
    errors = text_console(stderr=True, soft_wrap=True)
    for recording in report.recordings:
        for note in recording.notes:
            errors.print(f"note: {recording.name}: {note}", highlight=False, markup=False)
    for failure in report.failures:
        errors.print(f"failed: {failure.name}: {failure.message}", highlight=False, markup=False)
    nothing = bool(report.recordings) and not report.kept
    if nothing:
        errors.print("nothing was kept of any recording: the notes above say why", highlight=False)
    if report.failures or nothing:
        raise typer.Exit(1)
    if report.waiting:
        raise typer.Exit(3)
