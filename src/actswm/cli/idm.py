"""`actswm idm`: train an inverse-dynamics model, which names the controls that a video shows."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ..dataset_paths import label
from .arguments import dataset_file
from .printing import say

if TYPE_CHECKING:
    from ..recovery.idm import InverseDynamics
    from ..recovery.idm_training import IdmTraining
    from ..recovery.latent_idm import LatentIdm
    from ..recovery.motion_idm import MotionIdm
    from ..results import Scores

_STEPS = {"small": 6000, "paper": 20000, "pair": 2000, "latents": 4000}
_BATCH = {"small": 32, "paper": 64, "pair": 64, "latents": 256}


def idm(
    data: Path = dataset_file("Dataset file to train on."),
    out: Path = typer.Option(..., "--out", help="Folder for the trained model."),
    model: Literal["small", "paper", "pair"] = typer.Option(
        "small", help="Optical flow of all frames around a step, in two sizes; or two frames (the baseline)."
    ),
    latents: Path = typer.Option(
        None,
        metavar="WORLD-MODEL",
        help="Learn from this world model's latents of two frames instead (a run, a saved model or shipped weights).",
    ),
    steps: int = typer.Option(None, min=1, help="Training steps (default: 6000, 20000, 2000; with --latents 4000)."),
    batch: int = typer.Option(None, min=1, help="Windows of 64 frames, or pairs of frames or latents, in a step."),
    frames: int = typer.Option(None, min=1, help="Learn from so many labelled frames at most (not for pair)."),
    size: int = typer.Option(None, min=1, help="Input resolution (default: 64; paper 128; the world model's)."),
    frameskip: int = typer.Option(4, min=1, help="Raw steps of a model step (--latents: the world model's)."),
    device: str = typer.Option(
        "auto", "--device", help="Of the pair network; the others spend their time on optical flow and stay on the CPU."
    ),
    seed: int = typer.Option(3072, min=0, help="Chooses order and initial weights."),
) -> None:
    """Train an inverse-dynamics model: video in, the controls of every step out.

    What it has learned is checked, and its probabilities are calibrated, on the validation split. `actswm annotate
    --idm` labels videos with it, `actswm idm-score` tells how good the labels are.

    Example: actswm idm --data room.h5 --out runs/room-idm
    """
    from ..data import open_checked
    from ..recovery.idm_training import IdmTraining

    kind = "latents" if latents else model
    pace = (2e-3, 1e-2) if kind in ("small", "paper") else (1e-3, 1e-3)
    training = IdmTraining(_STEPS[kind] if steps is None else steps, batch or _BATCH[kind], *pace, seed=seed)
    trained: InverseDynamics | LatentIdm | MotionIdm
    if latents:
        trained, scores = _train_latents(data, latents, training, frames)
    elif model == "pair":
        trained, scores = _train_pair(data, training, size, frameskip, device)
    else:
        trained, scores = _train_motion(data, model, training, size, frameskip, frames)
    validation = {
        "key_accuracy": scores.key_accuracy.mean,
        "balanced_accuracy": scores.balanced_accuracy.mean,
        "f1": scores.f1.mean,
    }
    command = shlex.join(["actswm", *sys.argv[1:]])
    with open_checked(data) as file:
        told = {"command": command, "data": label(data), "fps": file.fps, "seed": seed, "validation": validation}
    trained.save(out, told)
    say(
        f"{out}: {training.steps} steps; validation: key accuracy {scores.key_accuracy}, active "
        f"{scores.active_accuracy}, balanced {scores.balanced_accuracy}, F1 {scores.f1}"
    )


def _train_latents(
    data: Path, world: Path, training: IdmTraining, frames: int | None
) -> tuple[LatentIdm, Scores]:
    from ..model.pretrained import load_pretrained
    from ..recovery.latent_training import train_latent_idm
    from .bars import bars

    model = load_pretrained(world)
    with bars() as move:
        return train_latent_idm(data, model, training, move, frames)


def _train_pair(
    data: Path, training: IdmTraining, size: int | None, frameskip: int, device: str
) -> tuple[InverseDynamics, Scores]:
    from ..recovery.idm import IdmConfig
    from ..recovery.idm_training import train_idm
    from .results import progress

    config = IdmConfig(_vocabulary(data), frameskip, size or IdmConfig.image_size)
    with progress("idm", training.steps) as move:
        return train_idm(data, config, training, lambda step, loss: move(step), device)


def _train_motion(
    data: Path, model: str, training: IdmTraining, size: int | None, frameskip: int, frames: int | None
) -> tuple[MotionIdm, Scores]:
    from ..recovery.motion_idm import SIZES, MotionIdmConfig
    from ..recovery.motion_training import train_motion_idm
    from .bars import bars

    settings = {**SIZES[model], **({"image_size": size} if size else {})}
    config = MotionIdmConfig(_vocabulary(data), frameskip, **settings)
    with bars() as move:
        return train_motion_idm(data, config, training, move, frames)


def _vocabulary(data: Path) -> str:
    from ..data import open_checked

    with open_checked(data) as file:
        return file.vocabulary.spelling
