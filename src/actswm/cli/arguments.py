"""Arguments that many commands share. What can be seen to be wrong is refused before anything heavy is imported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import typer

Executor = Literal["processes", "ray"]
DEVICE = typer.Option(
    "auto", "--device", help="Where the model runs: auto (a GPU if there is one), cpu, cuda, cuda:1, mps."
)
OR_SHARDS = "Or a folder of shards, a glob, or several with commas; also under s3:// or hf://."
Compression = Literal["none", "blosc-zstd", "blosc-lz4"]
COMPRESSION = typer.Option(
    "none", help="Where disk is short: frames packed one by one; blosc-lz4 is larger and read faster."
)
EXECUTOR = typer.Option("processes", help="On this machine, or on a Ray cluster.")


def packing(compression: Compression) -> str | None:
    return None if compression == "none" else compression


def saved_models(context: typer.Context, given: Any) -> Any:
    """Models that are there: folders of one or several, or none."""
    if given and not context.resilient_parsing:
        from ..saved_models import locate

        for model in given if isinstance(given, Sequence) and not isinstance(given, str) else [given]:
            locate(model)
    return given


def existing_dataset(context: typer.Context, given: Path | None) -> Path | None:
    """A file, a folder of shards, a glob, or several with commas between them; fetched if they lie elsewhere."""
    if given is not None and not context.resilient_parsing:
        from ..dataset_paths import shard_files
        from .bars import bars

        with bars("MB") as move:
            shard_files(given, move)
    return given


def file_to_write(context: typer.Context, given: Path | None) -> Path | None:
    if given is not None and not context.resilient_parsing:
        from ..errors import UserError
        from ..remote import is_remote

        if is_remote(given):
            raise UserError(f"{given}: shards there are only read; name a file here and copy it")
        if given.is_dir():
            raise UserError(f"{given}: is a folder; name a file to write")
    return given


def dataset_file(text: str) -> Any:
    """The option --data."""
    return typer.Option(..., "--data", help=f"{text} {OR_SHARDS}", callback=existing_dataset)


MODEL = typer.Argument(..., help="A run, a saved model's folder, or shipped weights by name.", callback=saved_models)
MODELS = typer.Argument(
    ..., help="Runs, saved models' folders, or shipped weights by name; all on the same windows.", callback=saved_models
)
