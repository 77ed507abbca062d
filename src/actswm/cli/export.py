"""`actswm export`: weights to share."""

from __future__ import annotations

from pathlib import Path

import typer

from .arguments import MODEL
from .printing import say


def export(
    checkpoint: Path = MODEL,
    out: Path = typer.Option(
        ..., "--out", help="Folder for config.json, model.safetensors and a model card."
    ),
    full: bool = typer.Option(False, "--full", help="Keep fp32; half precision otherwise."),
) -> None:
    """Write a model's weights for sharing: half the size, with all that tells where they come from.

    Example: actswm export runs/small-actswm --out shared/actswm
    """
    import torch

    from ..model.pretrained import load_pretrained, save_pretrained
    from ..saved_models import WEIGHTS_FILE, read_config

    provenance = read_config(checkpoint)["provenance"]
    save_pretrained(load_pretrained(checkpoint), out, provenance, None if full else torch.float16)
    say(f"{out}: {(out / WEIGHTS_FILE).stat().st_size / 1e6:.2f} MB")
