"""`actswm idm`: train the inverse-dynamics baseline."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import typer

from .arguments import DEVICE, dataset_file
from .printing import say


def idm(
    data: Path = dataset_file("Dataset file to train on."),
    out: Path = typer.Option(..., "--out", help="Folder for the trained model."),
    steps: int = typer.Option(2000, help="Training steps."),
    batch: int = typer.Option(64, help="Pairs of frames in a step."),
    size: int = typer.Option(64, help="Input resolution."),
    frameskip: int = typer.Option(4, help="Raw steps between the two frames."),
    device: str = DEVICE,
    seed: int = typer.Option(3072, help="Chooses order and initial weights."),
) -> None:
    """Train the inverse-dynamics baseline: two neighbouring frames in, the step's controls out.

    Example: actswm idm --data room.h5 --out runs/room-idm
    """
    from ..data import open_checked
    from ..recovery.idm import IdmConfig
    from ..recovery.idm_training import IdmTraining, train_idm
    from .results import progress

    with open_checked(data) as file:
        config = IdmConfig(file.vocabulary.name, frameskip, size)
    with progress("idm", steps) as move:
        model, scores = train_idm(
            data,
            config,
            IdmTraining(steps, batch, seed=seed),
            lambda step, loss: move(step),
            device,
        )
    validation = {
        "key_accuracy": scores.key_accuracy.mean,
        "balanced_accuracy": scores.balanced_accuracy.mean,
    }
    command = shlex.join(["actswm", *sys.argv[1:]])
    model.save(out, {"command": command, "data": data.name, "seed": seed, "validation": validation})
    say(
        f"{out}: {steps} steps; validation: key accuracy {scores.key_accuracy}, "
        f"active {scores.active_accuracy}, balanced {scores.balanced_accuracy}"
    )
