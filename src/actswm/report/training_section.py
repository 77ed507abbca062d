"""Training runs on the page: losses over steps, what came out, and the configuration."""

from __future__ import annotations

from collections.abc import Sequence

from .blocks import Block, Cell, Colour, Image, Listing, Panel, Panels, Section, Table, heading
from .line_chart import Axes, Line, line_chart
from .training_run import TrainingRun

CHARTS = {
    "loss": "Loss",
    "prediction": "Prediction error",
    "val/shuffled_gap": "Shuffled gap (validation)",
}


def training_section(runs: Sequence[TrainingRun], colour: Colour) -> Section | None:
    if not runs:
        return None
    blocks: list[Block] = []
    panels = tuple(_panel(name, title, runs, colour) for name, title in CHARTS.items() if _logged(name, runs))
    if panels:
        caption = (
            "Lines: training batches; points: validation. Objectives differ, so losses compare within a run; "
            "where a loss jumps, a term has joined or left the objective."
        )
        legend = tuple(heading(run.name, colour) for run in runs)
        blocks.append(Panels(panels, caption, None, legend))
    blocks.append(_table(runs, colour))
    blocks += [Listing(f"Configuration of {run.name}", run.config, run.origin) for run in runs if run.config]
    return Section("training", "Training", "How the models were trained", tuple(blocks))


def data_section(pictures: Sequence[Image]) -> Section | None:
    if not pictures:
        return None
    return Section("data", "Recordings", "What the models have seen", tuple(pictures))


def _logged(name: str, runs: Sequence[TrainingRun]) -> bool:
    return any(run.losses.get(name) for run in runs)


def _panel(name: str, title: str, runs: Sequence[TrainingRun], colour: Colour) -> Panel:
    lines, ends = [], []
    for run in runs:
        if points := run.losses.get(name):
            ends.append(f"{run.name} ends at {points[-1][1]:.3f}")
            lines.append(Line("", points, colour(run.name), "points" if name.startswith("val/") else "solid"))
        if points := run.losses.get(f"val/{name}"):
            lines.append(Line("", points, colour(run.name), "points"))
    axes = Axes("training step", title.lower(), low=0.0, left=0.0)
    return Panel(title, line_chart(f"{title} over training steps: {', '.join(ends)}", axes, lines))


def _table(runs: Sequence[TrainingRun], colour: Colour) -> Table:
    rows = []
    for run in runs:
        figures = ", ".join(f"{name} {value:.3f}" for name, value in run.validation.items())
        rows.append(
            (
                heading(run.name, colour),
                Cell(f"{run.steps:,}" if run.steps else "not finished"),
                Cell(run.data or "–"),
                Cell(figures or "–"),
                Cell("–" if run.origin.seed is None else str(run.origin.seed)),
                Cell(f"{run.seconds / 60:.0f} min" if run.seconds else "–", run.origin.machine),
                Cell(run.origin.commit or "–"),
            )
        )
    head = ("run", "steps", "data", "validation", "seed", "time", "commit")
    return Table("Training runs", head, tuple(rows))
