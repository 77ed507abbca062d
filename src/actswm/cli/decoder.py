"""`actswm decoder`: pictures for what a finished model imagines."""

from __future__ import annotations

from pathlib import Path

import typer

from ..dataset_paths import label
from .arguments import DEVICE, MODEL, dataset_file
from .printing import say


def decoder(
    checkpoint: Path = MODEL,
    data: Path = dataset_file("Dataset file whose frames it learns to draw."),
    out: Path = typer.Option(None, "--out", "-o", help="Folder to write to (default: beside the model's weights)."),
    frames: int = typer.Option(20_000, min=2, help="Frames to learn from, drawn from the file."),
    steps: int = typer.Option(1_500, min=1, help="Training steps."),
    width: int = typer.Option(64, min=16, help="Planes of the first feature map."),
    seed: int = typer.Option(0, min=0, help="Of the frames and of the weights."),
    device: str = DEVICE,
) -> None:
    """Train a small decoder on a model's frozen latents, for sheets, strips, play and reports.

    It teaches the model nothing: no gradient reaches it. It has never seen a prediction, only real frames.

    Example: actswm decoder runs/mine --data room.h5
    """
    from ..model.decoder import save_decoder
    from ..origin import this_command
    from ..saved_models import locate
    from ..training.decoder import train_decoder
    from .bars import bars
    from .checkpoints import load_checkpoints

    loaded = load_checkpoints([checkpoint], device)[0]
    with bars() as move:
        drawn, error = train_decoder(
            loaded.model, data, frames=frames, steps=steps, seed=seed, width=width, progress=move
        )
    came = this_command()
    origin = {"command": came.command, "commit": came.commit, "error": f"{error:.4f}", "data": label(data)}
    path = save_decoder(drawn, loaded.model, out or locate(checkpoint), origin)
    say(f"{path}: mean error {255 * error:.1f} of 255 on frames that it did not learn from")
