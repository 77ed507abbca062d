"""`actswm fidelity`: predictions under other actions against what those actions truly do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..dataset_paths import label
from .arguments import DEVICE, MODELS
from .printing import text_console
from .results import progress, require_expected, save_csv, short, warn_of_one_episode
from .trained_on import warn_of_other_data
from .window_options import (
    BRANCHING_DATA,
    CONTEXT,
    CSV,
    EXPECT,
    HORIZON,
    JSON,
    OWN_GAME,
    SEED,
    SPLIT,
    TOLERANCE,
    TRUTHS,
    WORKERS,
    Split,
)

if TYPE_CHECKING:
    from rich.console import Console

    from ..results import Fidelity, FidelityModel


def fidelity(
    checkpoints: list[Path] = MODELS,
    data: Path = BRANCHING_DATA,
    own_game: str = OWN_GAME,
    windows: int = typer.Option(128, min=2, help="Windows to sample; each gets 8 true futures."),
    split: Split = SPLIT,
    context: int = CONTEXT,
    horizon: int = HORIZON,
    seed: int = SEED,
    gallery: int = typer.Option(
        8000, min=0, help="Recorded frames among which the nearest to a prediction tells its pose; 0: no poses."
    ),
    device: str = DEVICE,
    workers: int = WORKERS,
    truths: Path = TRUTHS,
    json_file: Path = JSON,
    csv_file: Path = CSV,
    expect: Path = EXPECT,
    tolerance: float = TOLERANCE,
) -> None:
    """Render the true futures of eight action sequences per window, and judge each model's predictions of them.

    Example: actswm fidelity runs/small-lewm-rollout runs/small-actswm --data maze.h5 --json fidelity.json
    """

    from ..diagnosis.fidelity import counterfactual_fidelity
    from ..origin import this_command
    from ..results import Fidelity, FidelityModel, save_result
    from .checkpoints import load_checkpoints, windows_for
    from .rendering import pose_gallery, rendered_futures

    loaded = load_checkpoints(checkpoints, device)
    sample = windows_for(loaded, data, windows, split=split, context=context, horizon=horizon, seed=seed)
    warn_of_one_episode(sample)
    warn_of_other_data([checkpoint.path for checkpoint in loaded], data)
    futures = rendered_futures(sample, seed, workers, truths, own_game)
    console = text_console()
    models = []
    for checkpoint in loaded:
        poses = pose_gallery(checkpoint.model, futures, gallery, checkpoint.name) if gallery else None
        with progress(checkpoint.name, len(sample)) as show:
            measured = counterfactual_fidelity(checkpoint.model, futures, poses=poses, progress=show)
        models.append(FidelityModel(checkpoint.name, measured.table()))
        _print_table(console, models[-1])
    result = Fidelity(
        data=label(data),
        windows=len(sample),
        episodes=sample.episodes,
        split=split,
        context=context,
        horizon=horizon,
        gallery=gallery,
        models=tuple(models),
        origin=this_command(seed),
    )
    if json_file:
        save_result(json_file, result)
    if csv_file:
        save_csv(csv_file, _csv_rows(result))
    require_expected(expect, result, tolerance)


def _print_table(console: Console, model: FidelityModel) -> None:
    from rich.table import Table

    name, table = model.name, model.steps
    last = max(row.step for row in table)
    steps = [step for step in (1, 2, 4) if step < last] + [last]
    shown = Table(
        "kind",
        "step",
        "cases",
        "distinct",
        "F",
        "skill",
        "top-1",
        "chance",
        title=f"{name}: predictions of 8 true futures",
        padding=(0, 0),
    )
    for row in table:
        if row.step in steps:
            figures = map(short, (row.fidelity, row.skill, row.top1))
            kind = row.kind if row.step == steps[0] else ""
            shown.add_row(
                kind,
                str(row.step),
                str(row.cases),
                str(row.distinct),
                *figures,
                f"{row.chance:.3f}",
                end_section=row.step == last,
            )
    console.print(shown)
    where = [row for row in table if row.kind == "all" and row.step in steps and row.distance.median >= 0]
    if where:
        shown = Table("step", "map units off", "degrees off", "right room", padding=(0, 0))
        shown.title = f"{name}: the nearest recorded frames (median, 90 %)"
        for row in where:
            spreads = (f"{s.median:.0f}, {s.ninth:.0f}" for s in (row.distance, row.angle))
            shown.add_row(str(row.step), *spreads, short(row.place))
        console.print(shown)


def _csv_rows(result: Fidelity) -> list[list[object]]:
    figures, parts = ("fidelity", "skill", "top1"), ("mean", "low", "high")
    poses = [(figure, part) for figure in ("distance", "angle") for part in ("median", "ninth")]
    poses += [("place", part) for part in parts]
    names = [f"{figure}_{part}" for figure in figures for part in parts]
    rows: list[list[object]] = [["model", "kind", "step", "cases", "distinct", *names, "chance"]]
    rows[0] += [f"{figure}_{part}" for figure, part in poses]
    for model in result.models:
        for row in model.steps:
            values = [f"{getattr(getattr(row, figure), part):.6f}" for figure in figures for part in parts]
            where = [f"{getattr(getattr(row, figure), part):.6f}" for figure, part in poses]
            rows.append([model.name, row.kind, row.step, row.cases, row.distinct, *values, row.chance, *where])
    return rows
