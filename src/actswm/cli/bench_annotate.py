"""`actswm bench annotate`: how fast inverse dynamics labels video."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from ..json_files import write_json
from .bench import JSON
from .printing import say


def bench_annotate(
    frames: int = typer.Option(2000, min=64, help="Frames of the made video."),
    rounds: int = typer.Option(3, min=1, help="Decoding and annotating take turns this many times."),
    height: int = typer.Option(64, min=32, help="Height of the made video; the model sees 64 px."),
    json_file: Path = JSON,
) -> None:
    """`annotate --idm` over bare decoding and resizing to 64 px, on one core.

    Example: actswm bench annotate --json annotate.json
    """
    from ..bench.annotation import bench_annotate as run

    width = height if height == 64 else height * 16 // 9 // 2 * 2
    result = run(frames, rounds, (height, width))
    say(
        f"annotate_over_decode {result.annotate_over_decode:.2f} in processor time "
        f"({result.annotate_over_decode_wall:.2f} by the clock; {result.annotate_fps:,.0f} and "
        f"{result.decode_fps:,.0f} frames a processor second)"
    )
    if json_file:
        write_json(json_file, asdict(result))
