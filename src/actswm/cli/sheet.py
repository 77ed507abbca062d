"""`actswm sheet`: what a model thinks other actions would show, beside what they do show."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from .arguments import DEVICE, MODEL, file_to_write
from .printing import say
from .window_options import BRANCHING_DATA, CONTEXT, HORIZON, SEED, SPLIT, TRUTHS, WORKERS


def sheet(
    checkpoint: Path = MODEL,
    data: Path = BRANCHING_DATA,
    out: Path = typer.Option(Path("sheet.png"), "--out", "-o", help="PNG to write.", callback=file_to_write),
    window: int = typer.Option(
        None,
        min=0,
        help="Which of the sampled windows to show (default: where the true futures differ most).",
    ),
    windows: int = typer.Option(16, min=2, help="Windows to sample; each gets 8 true futures."),
    split: str = SPLIT,
    context: int = CONTEXT,
    horizon: int = HORIZON,
    seed: int = SEED,
    gallery: int = typer.Option(
        4000, min=1, help="Recorded frames that may stand in for a predicted latent."
    ),
    device: str = DEVICE,
    workers: int = WORKERS,
    truths: Path = TRUTHS,
) -> None:
    """Draw a window's true futures beside the recorded frames nearest to the predicted latents.

    Example: actswm sheet runs/small-actswm --data maze.h5 --window 3 --out sheet.png
    """
    from ..data import sample_windows
    from ..data.loader import sampled_windows
    from ..diagnosis.sheet import counterfactual_sheet, telling_window
    from ..errors import UserError
    from ..origin import this_command
    from ..report.picture_note import write_note
    from ..report.sheet_picture import FutureRows, draw_sheet
    from .bars import bars
    from .checkpoints import load_checkpoints
    from .rendering import rendered_futures

    loaded = load_checkpoints([checkpoint], device)[0]
    frameskip = loaded.model.encoding.frameskip
    sample = sample_windows(
        data, windows, split=split, context=context, horizon=horizon, frameskip=frameskip, seed=seed
    )
    if window is not None and window >= len(sample):
        raise UserError(f"--window {window}: there are only {len(sample)} windows; raise --windows")
    sampled_windows(sample, loaded.model)  # a model that does not fit the file fails before the long work
    futures = rendered_futures(sample, seed, workers, truths)
    chosen = telling_window(futures) if window is None else window
    steps = (*(step for step in (1, 2, 4, 8, 16, 32) if step < horizon), horizon)
    with bars() as move:
        show = partial(move, f"{loaded.name}: gallery")
        shown = counterfactual_sheet(loaded.model, futures, chosen, steps, gallery, progress=show)
    rows = [FutureRows(f"{f.kind}: {f.controls}", f.true, f.predicted) for f in shown.futures]
    which = (
        f"window {chosen}"
        if window is not None
        else f"window {chosen} of {len(sample)}, chosen for its futures"
    )
    title = f"{loaded.name} on {data.name}, {which}: true frames, and those nearest to its predictions"
    draw_sheet(shown.context, steps, rows, title, out)
    alt = f"Frames of {len(rows)} futures from one moment, {', '.join(row.title for row in rows)}: "
    alt += "what truly happens above what the model expects"
    write_note(out, "sheet", title, alt, this_command(seed))
    say(f"{out}: {len(rows)} futures of window {chosen}")
