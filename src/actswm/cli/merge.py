"""`actswm merge`: several dataset files as one."""

from __future__ import annotations

from pathlib import Path

import typer

from .arguments import COMPRESSION, Compression, file_to_write, packing
from .printing import say


def merge(
    files: list[Path] = typer.Argument(..., help="Dataset files or folders of them, of one vocabulary and frame size."),
    out: Path = typer.Option(..., "--out", "-o", help="New dataset file (.h5), or folder.", callback=file_to_write),
    compression: Compression = COMPRESSION,
    shard_gb: float = typer.Option(
        None, min=0.001, help="Make --out a folder of shards, each of about so many gigabytes."
    ),
) -> None:
    """Put several dataset files into one, to train on all of them; or one into several, or into a smaller one.

    Example: actswm merge expert.h5 explorer.h5 --out both.h5
    """
    from ..data import open_checked
    from ..data.merging import merge as run
    from .bars import bars

    total = 0
    for path in files:
        with open_checked(path) as file:
            total += file.num_frames
    with bars() as move:
        episodes, frames = run(
            files,
            out,
            lambda done: move("merging", done, total, "frames"),
            compression=packing(compression),
            shard_bytes=None if shard_gb is None else round(shard_gb * 1e9),
        )
    say(f"{out}: {frames:,} frames in {episodes:,} episodes")
