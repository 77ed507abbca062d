"""`actswm inspect`."""

from __future__ import annotations

from pathlib import Path

import typer

from ..dataset_paths import label
from .arguments import OR_SHARDS, existing_dataset
from .printing import text_console


def inspect(
    file: Path = typer.Argument(..., help=f"Dataset file. {OR_SHARDS}", callback=existing_dataset),
    sheet: Path = typer.Option(None, "--sheet", help="Write a contact sheet of frames to this PNG."),
    seed: int = typer.Option(0, "--seed", min=0, help="Which frames the contact sheet shows."),
) -> None:
    """Say what is inside a dataset file, and whether it is sound.

    Example: actswm inspect maze.h5 --sheet maze.png
    """
    from rich.table import Table

    from ..data import validate
    from ..data.summary import summarise

    validate(file)
    summary = summarise(file)
    console = text_console()
    console.print(
        f"{file}: {summary.source}, {summary.frames:,} frames in {summary.episodes} episodes "
        f"({summary.shortest} to {summary.longest} rows), {summary.width}x{summary.height} at {summary.fps:g} fps, "
        f"{summary.hours:.2f} h, {summary.invalid_share:.2%} invalid, actions {summary.action_origin}"
    )
    table = Table("control", "kind", "active", "changes per 100 frames", "mean", title=summary.vocabulary)
    for control in summary.controls:
        table.add_row(
            control.name,
            "binary" if control.binary else "continuous",
            f"{control.active_share:.1%}",
            f"{control.changes_per_100:.1f}",
            f"{control.mean:.3g}",
        )
    console.print(table)
    if sheet:
        from ..data.contact_sheet import write_contact_sheet
        from ..origin import this_command
        from ..report.picture_note import write_note

        write_contact_sheet(file, sheet, seed=seed)
        caption = f"{label(file)}: {summary.source}, {summary.frames:,} frames in {summary.episodes} episodes. "
        caption += "Above each frame its episode and step, and what is held down"
        alt = "Stretches of recorded frames, each with the controls that were held in it"
        write_note(sheet, "contact-sheet", caption, alt, this_command(seed))
        console.print(f"contact sheet: {sheet}")
