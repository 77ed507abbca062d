"""`actswm idm-score`: how good an inverse-dynamics model's labels are, and whether it knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from ..dataset_paths import label
from .arguments import dataset_file
from .printing import say, text_console
from .window_options import Split


def idm_score(
    idm: Path = typer.Argument(help="Folder of an inverse-dynamics model (actswm idm)."),
    data: Path = dataset_file("Dataset file with recorded actions that the model has not seen."),
    split: Split = typer.Option("all", help="Episodes to label; test, if the model was trained on this file."),
    other: list[Path] = typer.Option(
        [], help="Recordings of other games: how surely are they, noise, and an editor told from the own game?"
    ),
    json_file: Path = typer.Option(None, "--json", help="Write all figures to this file."),
) -> None:
    """Score an inverse-dynamics model on whole episodes: labels, calibration, off-domain check.

    Balanced accuracy and F1 are of model steps (pressed in any of its raw steps), means over the controls in use, with
    intervals over episodes; the calibration error (ECE) is of raw steps.

    Example: actswm idm-score runs/room-idm --data other-room.h5 --json score.json
    """
    from rich.table import Table

    from ..origin import this_command
    from ..recovery.idm_report import report_on
    from ..recovery.saved_idm import load_motion_idm
    from ..results import save_result
    from .recovery_tables import control_table

    report = report_on(load_motion_idm(idm), data, other, split)
    control_table(f"{idm.name} on {label(data)}, {report.episodes} episodes", report.steps)
    say(f"model steps: balanced accuracy {report.steps.balanced_accuracy}, F1 {report.steps.f1}")
    say(f"raw steps: balanced accuracy {report.raw.balanced_accuracy}, F1 {report.raw.f1}")
    worst = max(report.reliability, key=lambda one: one.error, default=None)
    if worst:
        say(f"calibration error {report.calibration_error:.3f}; the largest: {worst.name} {worst.error:.3f}")
    say(f"off-domain: {report.off_domain_share:.1%} of the recording's stretches")
    if report.separations:
        table = Table("video", "AUROC against the recording", "beyond the limit")
        for name, auroc in report.separations.items():
            table.add_row(name, f"{auroc:.3f}", f"{report.caught[name]:.0%}")
        text_console().print(table)
    if json_file:
        save_result(json_file, replace(report, origin=this_command()))
