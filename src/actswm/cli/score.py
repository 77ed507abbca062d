"""`actswm score`: other programs' predicted inputs against recorded ones."""

from __future__ import annotations

from pathlib import Path

import typer


def score(
    predicted: Path = typer.Argument(help="OWAMcap file with predicted inputs."),
    recorded: Path = typer.Argument(help="OWAMcap file with recorded inputs, of the same video."),
    vocabulary: str = typer.Option("keys14", help="keys14 or minecraft."),
    frameskip: int = typer.Option(4, min=1, help="Frames of a model step."),
    steps: int = typer.Option(32, min=1, help="Model steps of a window, over which intervals are taken."),
    json_file: Path = typer.Option(None, "--json", help="Write all figures to this file."),
) -> None:
    """Score inputs that another program predicted (G-IDM, say) against the recorded ones.

    Example: actswm score predicted.mcap recorded.mcap --json score.json
    """
    from ..controls import ActionEncoding, vocabulary_of
    from ..json_files import write_json
    from ..recovery.owamcap_scoring import score_owamcap
    from ..results.form import encode
    from .recovery_tables import control_table, table

    encoding = ActionEncoding(vocabulary_of(vocabulary), "sliding", frameskip)
    scores = score_owamcap(predicted, recorded, encoding, window=steps)
    table({predicted.name: scores}, {})
    control_table(predicted.name, scores)
    if json_file:
        write_json(json_file, encode(scores))
