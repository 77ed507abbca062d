"""`actswm train`."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import typer

from .arguments import DEVICE, dataset_file
from .printing import say


def known_preset(context: typer.Context, preset: str) -> str:
    from ..presets import require_preset

    if not context.resilient_parsing:
        require_preset(preset)
    return preset


def train(
    preset: str = typer.Argument(
        ..., help="Size and variant, such as small/actswm or paper/lewm-rollout.", callback=known_preset
    ),
    overrides: list[str] = typer.Argument(None, help="Settings as section.key=value."),
    data: Path = dataset_file("Dataset file to train on."),
    out: Path = typer.Option(None, "--out", help="Run folder; default runs/<preset>."),
    resume: bool = typer.Option(False, "--resume", help="Go on with the run in --out."),
    device: str = DEVICE,
    quiet: bool = typer.Option(False, "--quiet", help="No progress."),
) -> None:
    """Train a world model on a dataset file.

    Example: actswm train small/actswm --data maze.h5 training.steps=3000 objective.hinge.margin=0.2
    """
    from ..data import open_checked
    from ..diagnosis.probe import drift_probe
    from ..objective import schedule
    from ..origin import this_command
    from ..processes import only_run
    from ..saved_models import locate
    from ..training import load_config
    from ..training import train as run
    from ..training.launch import is_first_process
    from .progress import TrainingProgress
    from .trained_on import warn_of_other_data

    config = load_config(preset, overrides or [])
    if not any(override.startswith("model.vocabulary=") for override in overrides or []):
        with open_checked(data) as file:
            config.model.vocabulary = file.vocabulary.spelling
    if config.training.start_from:
        warn_of_other_data([locate(config.training.start_from)], data)
    folder = out or Path("runs") / preset.replace("/", "-")
    first = is_first_process()  # its other processes belong to this very run
    alone = only_run(folder, ".lock") if first else nullcontext()
    with alone:
        if first and not quiet:
            for stage in schedule(config.objective):
                say(f"objective {stage}", err=True)
        result = run(
            config,
            data,
            folder,
            resume=resume,
            device=device,
            probes=[
                drift_probe(
                    data,
                    config.model.predictor.context,
                    config.objective.horizon if config.objective.rollout else 1,
                    config.model.frameskip,
                )
            ],
            callbacks=[] if quiet else [TrainingProgress()],
            command=this_command().command,
        )
    if not first:
        return
    figures = ", ".join(f"{name} {value:.4f}" for name, value in result.validation.items())
    say(
        f"{result.model_folder}: {result.steps} steps in {result.seconds:.0f} s; validation: {figures}"
    )
