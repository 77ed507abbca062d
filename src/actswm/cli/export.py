"""`actswm export`: weights to share."""

from __future__ import annotations

from pathlib import Path

import typer


def export(
    checkpoint: Path = typer.Argument(..., help="A run, or a saved model."),
    out: Path = typer.Option(
        ..., "--out", help="Folder for config.json, model.safetensors and a model card."
    ),
    full: bool = typer.Option(False, "--full", help="Keep fp32; half precision otherwise."),
) -> None:
    """Write a model's weights for sharing: half the size, with all that tells where they come from.

    Example: actswm export runs/small-actswm --out shared/actswm
    """
    import torch

    from ..model.pretrained import WEIGHTS_FILE, load_pretrained, read_config, save_pretrained

    provenance = read_config(checkpoint)["provenance"]
    save_pretrained(load_pretrained(checkpoint), out, provenance, None if full else torch.float16)
    typer.echo(f"{out}: {(out / WEIGHTS_FILE).stat().st_size / 1e6:.2f} MB")
