"""`actswm drift`: step drift (Q1) of one or several models on the same windows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..dataset_paths import label
from .arguments import DEVICE, MODELS
from .printing import text_console
from .results import progress, require_expected, save_csv, short, warn_of_one_episode
from .trained_on import warn_of_other_data
from .window_options import CONTEXT, CSV, DATA, EXPECT, JSON, SEED, SPLIT, TOLERANCE, Split

if TYPE_CHECKING:
    from rich.console import Console

    from ..results import ControlSensitivity, Drift, DriftModel, ModelBounds

FEW = 256


def drift(
    checkpoints: list[Path] = MODELS,
    data: Path = DATA,
    windows: int = typer.Option(1280, min=2, help="Windows to sample."),
    split: Split = SPLIT,
    context: int = CONTEXT,
    horizon: int = typer.Option(32, min=1, help="Steps to roll out."),
    seed: int = SEED,
    controls: bool = typer.Option(
        False, "--controls", help=f"Also: to which controls is each model sensitive? (First {FEW} windows.)"
    ),
    bound: bool = typer.Option(
        False,
        "--bound",
        help=f"Also: Appendix E's bound on the readout's transitions. (First {FEW} windows.)",
    ),
    device: str = DEVICE,
    json_file: Path = JSON,
    csv_file: Path = CSV,
    plot: Path = typer.Option(None, "--plot", help="Draw both panels of the paper's figure into this PNG."),
    expect: Path = EXPECT,
    tolerance: float = TOLERANCE,
) -> None:
    """Measure step drift: similarity to the true future under recorded, zero and shuffled actions.

    Example: actswm drift runs/small-lewm-rollout runs/small-actswm --data maze.h5 --plot drift.png
    """

    from ..diagnosis.bound import model_bounds
    from ..diagnosis.drift import step_drift
    from ..diagnosis.sensitivity import control_sensitivity, effective_controls
    from ..origin import this_command
    from ..results import Drift, DriftModel, save_result
    from .checkpoints import load_checkpoints, windows_for

    loaded = load_checkpoints(checkpoints, device)
    sample = windows_for(loaded, data, windows, split=split, context=context, horizon=horizon, seed=seed)
    warn_of_one_episode(sample)
    warn_of_other_data([checkpoint.path for checkpoint in loaded], data)
    few = sample.first(FEW)
    console = text_console()
    models = []
    for checkpoint in loaded:
        name, model = checkpoint.name, checkpoint.model
        with progress(name, len(sample)) as show:
            measured = DriftModel(name, step_drift(model, sample, progress=show).table())
        _print_steps(console, measured)
        if controls:
            with progress(f"{name}: controls", len(few)) as show:
                found = control_sensitivity(model, few, effective_controls(few), progress=show)
            measured = replace(measured, controls=found)
            _print_controls(console, found)
        if bound:
            with progress(f"{name}: bound", len(few)) as show:
                bounds = model_bounds(model, few, progress=show)
            measured = replace(measured, bound=bounds)
            _print_bound(console, bounds)
        models.append(measured)
    result = Drift(
        data=label(data),
        windows=len(sample),
        episodes=sample.episodes,
        split=split,
        context=context,
        horizon=horizon,
        windows_of_controls_and_bound=len(few) if controls or bound else None,
        models=tuple(models),
        origin=this_command(seed),
    )
    if json_file:
        save_result(json_file, result)
    if csv_file:
        save_csv(csv_file, _csv_rows(result))
    if plot:
        from ..report.drift_plot import plot_drift
        from ..report.picture_note import write_note

        plot_drift(result, plot)
        names = ", ".join(model.name for model in models)
        write_note(
            plot,
            "drift",
            f"Step drift of {names} on {len(sample)} windows of {label(data)}",
            "Curves of similarity to the encoded future over steps, and bars at the last step",
            result.origin,
        )
    require_expected(expect, result, tolerance)


def _shown(steps: int) -> list[int]:
    """Steps that a terminal shows; the files hold all."""
    return [step for step in (1, 2, 4, 8, 12, 16, 24) if step < steps] + [steps]


def _print_steps(console: Console, model: DriftModel) -> None:
    from rich.table import Table

    head = ("step", "recorded", "zero", "gap", "shuffled", "gap", "copy", "random")
    shown = Table(*head, title=f"{model.name}: cosine to the encoded future")
    curves = model.curves.values()
    for step in _shown(len(model.steps)):
        shown.add_row(str(step), *(f"{curve[step - 1].mean:.3f}" for curve in curves))
    shown.add_row("", *(f"±{curve[-1].half_width:.3f}" for curve in curves), style="dim")
    console.print(shown)


def _print_controls(console: Console, found: tuple[ControlSensitivity, ...]) -> None:
    from rich.table import Table

    step = min(8, len(found[0].effect))
    shown = Table("control", "effect", "gap if held", "gap if released", title=f"controls at step {step}")
    for control in found:
        estimates = (control.effect, control.press_gap, control.release_gap)
        shown.add_row(control.control, *(short(estimate[step - 1]) for estimate in estimates))
    console.print(shown)


def _print_bound(console: Console, bounds: ModelBounds) -> None:
    from rich.table import Table

    kind = "trained" if bounds.readout_trained else "frozen"
    columns = ("u", "L of", "L", "eps", "blind", "|a-a'|", "|u-u'|", "positive", "slack", "fails", "tight")
    shown = Table(*columns, title=f"|u-u'| >= (|a-a'| - eps - eps') / L, {kind} readout", padding=(0, 0))
    for name, bound in (("encoded", bounds.encoded), ("predicted", bounds.predicted)):
        means = (bound.mean_error, bound.blind_error, bound.mean_action_distance, bound.mean_distance)
        for how, check in (("region", bound.region), ("product", bound.product)):
            shown.add_row(
                name,
                how,
                f"{check.lipschitz:.3f}",
                *(f"{mean:.3f}" for mean in means),
                f"{bound.positive_share:.1%}",
                f"{check.smallest_slack:.3f}",
                f"{check.violations}/{bound.pairs}",
                "-" if check.tightness is None else f"{check.tightness:.3f}",
            )
    console.print(shown)


def _csv_rows(result: Drift) -> list[list[object]]:
    parts = ("mean", "low", "high")
    columns = list(result.models[0].curves)
    rows: list[list[object]] = [["model", "step", *(f"{column}_{part}" for column in columns for part in parts)]]
    for model in result.models:
        for row in model.steps:
            figures = (f"{getattr(getattr(row, column), part):.6f}" for column in columns for part in parts)
            rows.append([model.name, row.step, *figures])
    return rows
