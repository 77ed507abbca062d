"""`actswm train`."""

from __future__ import annotations

import os
from pathlib import Path

import typer


def train(
    preset: str = typer.Argument(..., help="Size and variant, such as small/actswm or paper/lewm-rollout."),
    overrides: list[str] = typer.Argument(None, help="Settings as section.key=value."),
    data: Path = typer.Option(..., "--data", help="Dataset file to train on."),
    out: Path = typer.Option(None, "--out", help="Run folder; default runs/<preset>."),
    resume: bool = typer.Option(False, "--resume", help="Go on with the run in --out."),
    quiet: bool = typer.Option(False, "--quiet", help="No progress bar."),
) -> None:
    """Train a world model on a dataset file.

    Example: actswm train small/actswm --data maze.h5 training.steps=3000 objective.hinge.margin=0.2
    """
    from ..diagnosis.probe import drift_probe
    from ..origin import this_command
    from ..training import load_config
    from ..training import train as run
    from .progress import training_progress

    config = load_config(preset, overrides or [])
    folder = out or Path("runs") / preset.replace("/", "-")
    result = run(
        config,
        data,
        folder,
        resume=resume,
        probes=[
            drift_probe(
                data,
                config.model.predictor.context,
                config.objective.horizon if config.objective.rollout else 1,
                config.model.frameskip,
            )
        ],
        callbacks=[] if quiet else [training_progress()],
        command=this_command().command,
    )
    if os.environ.get("LOCAL_RANK", "0") != "0":
        return
    figures = ", ".join(f"{name} {value:.4f}" for name, value in result.validation.items())
    typer.echo(
        f"{result.model_folder}: {result.steps} steps in {result.seconds:.0f} s; validation: {figures}"
    )
