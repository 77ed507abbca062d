"""`actswm merge`: several dataset files as one."""

from __future__ import annotations

from pathlib import Path

import typer

from .arguments import file_to_write
from .printing import say


def merge(
    files: list[Path] = typer.Argument(..., help="Dataset files of one vocabulary and frame size."),
    out: Path = typer.Option(..., "--out", "-o", help="New dataset file (.h5).", callback=file_to_write),
) -> None:
    """Put several dataset files into one, to train on all of them.

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
        episodes, frames = run(files, out, lambda done: move("merging", done, total, "frames"))
    say(f"{out}: {frames:,} frames in {episodes:,} episodes")
