"""`actswm bench`: side-by-side measurements; ratios from one run, written as JSON on request."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import typer

app = typer.Typer(help="Measure side by side in one run and print ratios.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Each benchmark prints its ratios and writes them with `--json FILE`."""


@app.command()
def games(
    steps: int = typer.Option(8_000, help="Raw steps a round for the fastest game; slower ones take fewer."),
    rounds: int = typer.Option(5, help="Recorder and engine take turns this many times."),
    json_file: Path = typer.Option(None, "--json", help="Write the figures to this file."),
) -> None:
    """Recorder throughput over the bare engine loop, for every game whose engine is here.

    Example: actswm bench games --json games.json
    """
    from rich.console import Console
    from rich.table import Table

    from ..bench.games import bench_games

    console = Console()
    with console.status("recording and replaying"):
        result = bench_games(steps, rounds)
    table = Table("game", "engine frames/s", "recorder frames/s", "recorder over engine")
    for speed in result.speeds:
        table.add_row(
            speed.game,
            f"{speed.engine_fps:,.0f}",
            f"{speed.recorder_fps:,.0f}",
            f"{speed.recorder_over_engine:.2f}",
        )
    console.print(table)
    for game, reason in result.missing.items():
        console.print(f"{game}: not measured: {reason}")
    if json_file:
        write_json(json_file, result.figures())


@app.command()
def clean(
    seconds: int = typer.Option(24, min=4, help="Length of the 720p recording for the throughput."),
    json_file: Path = typer.Option(None, "--json", help="Write the figures to this file."),
) -> None:
    """Cleaning over bare decoding + resizing, and memory over the length of a recording.

    Example: actswm bench clean --json clean.json
    """
    from dataclasses import asdict

    from rich.console import Console

    from ..bench.clean import bench_clean

    console = Console()
    with console.status("making recordings") as status:
        result = bench_clean(seconds, progress=status.update)
    console.print(f"clean_over_decode {result.clean_over_decode:.2f} ({result.decode_fps:,.0f} frames/s decoding)")
    console.print(f"clean_over_decode_cpu {result.clean_over_decode_cpu:.2f} (processor time)")
    console.print(f"clean_over_decode_without_judge {result.clean_over_decode_without_judge:.2f}")
    peaks = f"10 min {result.rss_ten_minutes_mib:.0f}, 1 min {result.rss_one_minute_mib:.0f}"
    console.print(f"rss_growth_mib {result.rss_growth_mib:.0f} ({peaks})")
    if json_file:
        write_json(json_file, asdict(result))


def write_json(path: Path, figures: Mapping[str, object]) -> None:
    """Write to a temporary name, then rename: a reader never sees half a file."""
    import json
    import os

    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(figures, indent=2) + "\n")
    os.replace(temporary, path)
