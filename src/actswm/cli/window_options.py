"""Options that the diagnosis commands share: which windows, which futures, which files."""

from __future__ import annotations

from typing import Literal

import typer

from .arguments import dataset_file

Split = Literal["train", "validation", "test", "all"]
DATA = dataset_file("Dataset file.")
BRANCHING_DATA = dataset_file("Recording of a game that can branch (Freedoom, or your own).")
OWN_GAME = typer.Option(
    None, "--game", help="Your own game that made the recording (my_module:MyGame): code runs only if you name it."
)
SPLIT = typer.Option(
    "test", help="Episodes the windows come from: all, if the recording was made to evaluate on."
)
CONTEXT = typer.Option(32, min=1, help="Steps before each future; a model uses its last H.")
HORIZON = typer.Option(8, min=1, help="Steps to render and to roll out.")
SEED = typer.Option(1234, min=0, help="Which windows, and which alternatives.")
WORKERS = typer.Option(2, min=1, help="Engines that render side by side.")
TRUTHS = typer.Option(None, "--truths", help="File that keeps the true futures; default: beside the data.")
JSON = typer.Option(None, "--json", help="Write all figures to this file.")
CSV = typer.Option(None, "--csv", help="Write the table to this file.")
EXPECT = typer.Option(None, "--expect", help="Fail unless these stored figures (--json) come out again.")
TOLERANCE = typer.Option(0.01, "--tolerance", help="Largest accepted difference for --expect.")
