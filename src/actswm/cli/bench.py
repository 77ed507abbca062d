"""`actswm bench`: side-by-side measurements; ratios from one run, written as JSON on request."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import typer

app = typer.Typer(help="Measure side by side in one run and print ratios.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Each benchmark prints its ratios and writes them with `--json FILE`."""


@app.command()
def clean(
    seconds: int = typer.Option(24, min=4, help="Length of the 720p recording for the throughput."),
    json_file: Path = typer.Option(None, "--json", help="Write the figures to this file."),
) -> None:
    """Cleaning over bare decoding + resizing, and memory over the length of a recording.

    Example: actswm bench clean --json clean.json
    """
    from ..bench.clean import bench_clean

    result = bench_clean(seconds, progress=lambda what: print(what, file=sys.stderr))
    cpu = f"{result.clean_over_decode_cpu:.2f} in processor time"
    print(
        f"clean_over_decode {result.clean_over_decode:.2f} ({cpu}; {result.decode_fps:,.0f} frames/s decoding)"
    )
    print(f"clean_over_decode_without_judge {result.clean_over_decode_without_judge:.2f}")
    peaks = f"10 min {result.rss_ten_minutes_mib:.0f}, 1 min {result.rss_one_minute_mib:.0f}"
    print(f"rss_growth_mib {result.rss_growth_mib:.0f} ({peaks})")
    if json_file:
        json_file.write_text(json.dumps(asdict(result), indent=1))
