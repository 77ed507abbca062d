"""`actswm sheet`: what models think other actions would show, beside what they do show."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from ..dataset_paths import label
from .arguments import DEVICE, MODELS, file_to_write
from .printing import say
from .window_options import BRANCHING_DATA, CONTEXT, HORIZON, OWN_GAME, SEED, SPLIT, TRUTHS, WORKERS, Split

FEWER = 3
"""Steps that are shown of each future where several models stand side by side."""


def sheet(
    checkpoints: list[Path] = MODELS,
    data: Path = BRANCHING_DATA,
    own_game: str = OWN_GAME,
    out: Path = typer.Option(Path("sheet.png"), "--out", "-o", help="PNG to write.", callback=file_to_write),
    window: int = typer.Option(
        None,
        min=0,
        help="Which of the sampled windows to show (default: where the true futures differ most).",
    ),
    windows: int = typer.Option(16, min=2, help="Windows to sample; each gets 8 true futures."),
    split: Split = SPLIT,
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
    """Draw a window's true futures beside what each model expects of them.

    A predicted latent is drawn by the model's decoder, if it has one, above the recorded frame nearest to it.

    Example: actswm sheet freedoom-maze/lewm-rollout freedoom-maze/contrast --data maze.h5 --out sheet.png
    """
    import numpy as np

    from ..diagnosis.sheet import counterfactual_sheet, telling_window
    from ..errors import UserError
    from ..model.decoder import load_decoder
    from ..origin import this_command
    from ..report.picture_note import write_note
    from ..report.sheet_picture import Expectation, draw_sheet
    from .bars import bars
    from .checkpoints import load_checkpoints, windows_for
    from .rendering import rendered_futures

    loaded = load_checkpoints(checkpoints, device)
    drawings = [load_decoder(each.model, each.path) for each in loaded]
    sample = windows_for(loaded, data, windows, split=split, context=context, horizon=horizon, seed=seed)
    if window is not None and window >= len(sample):
        raise UserError(f"--window {window}: there are only {len(sample)} windows; raise --windows")
    futures = rendered_futures(sample, seed, workers, truths, own_game)
    chosen = telling_window(futures) if window is None else window
    steps = (*(step for step in (1, 2, 4, 8, 16, 32) if step < horizon), horizon)
    several = len(loaded) > 1
    steps = steps[-FEWER:] if several else steps
    sheets = []
    with bars() as move:
        for each, drawing in zip(loaded, drawings):
            show = partial(move, f"{each.name}: gallery")
            draw = drawing.draw if drawing else None
            sheets.append(counterfactual_sheet(each.model, futures, chosen, steps, gallery, draw=draw, progress=show))
    truth = sheets[0].futures
    kinds = [future.kind for future in truth]
    rows = [kinds.index(kind) for kind in dict.fromkeys(kinds)] if several else range(len(kinds))
    expectations = [
        Expectation(
            each.name,
            np.stack([shown.futures[row].predicted for row in rows]),
            np.stack([drawn for row in rows if (drawn := shown.futures[row].drawn) is not None]) if drawing else None,
        )
        for each, drawing, shown in zip(loaded, drawings, sheets)
    ]
    which = (
        f"window {chosen}"
        if window is not None
        else f"window {chosen} of {len(sample)}, chosen for its futures"
    )
    names = ", ".join(each.name for each in loaded)
    title = f"{label(data)}, {which}: what other actions show, and what {names} expect{'' if several else 's'}"
    words = [f"{truth[row].kind}: {truth[row].controls}" for row in rows]
    true = np.stack([truth[row].true for row in rows])
    draw_sheet(sheets[0].context, steps, words, true, expectations, title, out)
    alt = f"Frames of {len(rows)} futures from one moment, {', '.join(words)}: "
    alt += f"what truly happens beside what is expected by {names}"
    write_note(out, "sheet", title, alt, this_command(seed))
    say(f"{out}: {len(rows)} futures of window {chosen}")
