"""`actswm export`: weights to share, and datasets in the forms that other tools read."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from ..errors import UserError
from .arguments import OR_SHARDS
from .exchange import needed_packages
from .printing import say


def export(
    what: Path = typer.Argument(
        ...,
        help=f"A run, a saved model's folder, or shipped weights by name; with --format a dataset. {OR_SHARDS}",
    ),
    out: Path = typer.Option(
        None,
        "--out",
        help="Folder for config.json, model.safetensors and a model card; with --format for the dataset.",
    ),
    full: bool = typer.Option(False, "--full", help="Keep fp32; half precision otherwise."),
    licence: str = typer.Option(
        None, "--licence", help="Of the weights, by its SPDX name, for the model card: MIT."
    ),
    push: str = typer.Option(
        None, "--push", help="Also put the model on the Hugging Face hub, as user/repo."
    ),
    format: Literal["lerobot", "lance"] = typer.Option(
        None,
        "--format",
        help="Export a dataset: a LeRobotDataset v3 folder, or a Lance table as of stable-worldmodel.",
    ),
) -> None:
    """Write a model's weights for sharing: half the size, with all that tells where they come from.

    With --format, write a dataset for other tools; `actswm import` reads it back.

    Example: actswm export runs/small-actswm --out shared/actswm
    """
    if out is None:
        raise UserError("export needs --out: a folder to write")
    if format:
        if full or licence or push:
            raise UserError("--full, --licence and --push are for models, not for --format")
        _dataset(what, out, format)
    else:
        _model(what, out, full, licence, push)


def _model(checkpoint: Path, out: Path, full: bool, licence: str | None, push: str | None) -> None:
    from ..saved_models import WEIGHTS_FILE, read_config

    provenance = read_config(checkpoint)["provenance"] | ({"licence": licence} if licence else {})

    import torch

    from ..model.pretrained import load_pretrained, save_pretrained

    save_pretrained(load_pretrained(checkpoint), out, provenance, None if full else torch.float16, push)
    say(f"{out}: {(out / WEIGHTS_FILE).stat().st_size / 1e6:.2f} MB")
    if push:
        say(f"https://huggingface.co/{push}")


def _dataset(data: Path, out: Path, format: Literal["lerobot", "lance"]) -> None:
    from ..dataset_paths import shard_files

    shard_files(data)
    with needed_packages(format):
        if format == "lerobot":
            from ..exchange.lerobot_export import export_lerobot as write
        else:
            from ..exchange.lance_table import export_lance as write
    from ..data import open_checked
    from .bars import bars

    with open_checked(data) as file, bars() as move:
        write(file, out, lambda done: move("exporting", done, file.num_frames, "frames"))
        say(f"{out}: {file.num_frames:,} frames in {file.num_episodes:,} episodes")
