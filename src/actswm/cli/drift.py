"""`actswm drift`: step drift (Q1) of one or several models on the same windows."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .arguments import DEVICE, MODELS
from .printing import text_console
from .results import progress, require_expected, save_csv, save_result, short, warn_of_one_episode
from .trained_on import warn_of_other_data
from .window_options import CONTEXT, CSV, DATA, EXPECT, JSON, SEED, SPLIT, TOLERANCE

if TYPE_CHECKING:
    from rich.console import Console

    from ..diagnosis.bound import ModelBounds
    from ..diagnosis.drift import DriftStep
    from ..diagnosis.sensitivity import ControlSensitivity

FEW = 256
COLUMNS = ("recorded", "zero", "zero_gap", "shuffled", "shuffled_gap", "copy", "random")


def drift(
    checkpoints: list[Path] = MODELS,
    data: Path = DATA,
    windows: int = typer.Option(1280, min=2, help="Windows to sample."),
    split: str = SPLIT,
    context: int = CONTEXT,
    horizon: int = typer.Option(32, min=1, help="Steps to roll out."),
    seed: int = SEED,
    controls: bool = typer.Option(
        False, "--controls", help=f"Also: which controls does each model obey? (First {FEW} windows.)"
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

    from ..data import sample_windows
    from ..data.loader import sampled_windows
    from ..diagnosis.bound import model_bounds
    from ..diagnosis.drift import step_drift
    from ..diagnosis.sensitivity import control_sensitivity, effective_controls
    from ..origin import this_command
    from .checkpoints import load_checkpoints

    loaded = load_checkpoints(checkpoints, device)
    settings = {"split": split, "context": context, "horizon": horizon, "seed": seed}
    sample = sample_windows(
        data, windows, **settings, frameskip=loaded[0].model.encoding.frameskip  # type: ignore[arg-type]
    )  # fmt: skip
    for checkpoint in loaded:
        sampled_windows(sample, checkpoint.model)  # a model that does not fit the file fails before the long work
    warn_of_one_episode(sample)
    warn_of_other_data([checkpoint.path for checkpoint in loaded], data)
    few = sample.first(FEW)
    console = text_console()
    models: list[dict[str, Any]] = []
    curves = []
    for checkpoint in loaded:
        model = checkpoint.model
        with progress(checkpoint.name, len(sample)) as show:
            measured = step_drift(model, sample, progress=show)
        table = measured.table()
        curves.append((checkpoint.name, {curve: measured.mean(curve) for curve in measured.similarity}))
        entry: dict[str, Any] = {"name": checkpoint.name, "steps": [asdict(row) for row in table]}
        _print_steps(console, checkpoint.name, table)
        if controls:
            with progress(f"{checkpoint.name}: controls", len(few)) as show:
                found = control_sensitivity(model, few, effective_controls(few), progress=show)
            entry["controls"] = [asdict(control) for control in found]
            _print_controls(console, found)
        if bound:
            with progress(f"{checkpoint.name}: bound", len(few)) as show:
                bounds = model_bounds(model, few, progress=show)
            entry["bound"] = asdict(bounds)
            _print_bound(console, bounds)
        models.append(entry)
    origin = this_command()
    result = {"kind": "drift", **asdict(origin), "data": data.name, "windows": len(sample)}
    result |= {"episodes": sample.episodes, **settings}
    if controls or bound:
        result["windows_of_controls_and_bound"] = len(few)
    result["models"] = models
    save_result(json_file, result)
    if csv_file:
        save_csv(csv_file, _csv_rows(models))
    if plot:
        from ..report.drift_plot import DriftCurves, plot_drift
        from ..report.picture_note import write_note

        plot_drift([DriftCurves(*each) for each in curves], plot)
        names = ", ".join(name for name, _ in curves)
        write_note(
            plot,
            "drift",
            f"Step drift of {names} on {len(sample)} windows of {data.name}",
            "Curves of similarity to the encoded future over steps, and bars at the last step",
            origin,
            seed,
        )
    require_expected(expect, result, tolerance)


def _shown(steps: int) -> list[int]:
    """Steps that a terminal shows; the files hold all."""
    return [step for step in (1, 2, 4, 8, 12, 16, 24) if step < steps] + [steps]


def _print_steps(console: Console, name: str, table: tuple[DriftStep, ...]) -> None:
    from rich.table import Table

    head = ("step", "recorded", "zero", "gap", "shuffled", "gap", "copy", "random")
    shown = Table(*head, title=f"{name}: cosine to the encoded future")
    for step in _shown(len(table)):
        row = table[step - 1]
        shown.add_row(str(step), *(f"{getattr(row, column).mean:.3f}" for column in COLUMNS))
    spread = (getattr(table[-1], column) for column in COLUMNS)
    shown.add_row("", *(f"±{(each.high - each.low) / 2:.3f}" for each in spread), style="dim")
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


def _csv_rows(models: list[dict[str, Any]]) -> list[list[Any]]:
    parts = ("mean", "low", "high")
    rows: list[list[Any]] = [["model", "step", *(f"{column}_{part}" for column in COLUMNS for part in parts)]]
    for model in models:
        for row in model["steps"]:
            figures = (f"{row[column][part]:.6f}" for column in COLUMNS for part in parts)
            rows.append([model["name"], row["step"], *figures])
    return rows
