"""`actswm strip`: the imagination as a film."""

from __future__ import annotations

from pathlib import Path

import typer

from ..dataset_paths import label
from .arguments import DEVICE, MODEL, file_to_write
from .printing import say
from .window_options import DATA, SEED, SPLIT, Split

TRIED = 10


def strip(
    checkpoint: Path = MODEL,
    data: Path = DATA,
    out: Path = typer.Option(
        Path("strip.gif"), "--out", "-o", help="GIF or MP4 to write.", callback=file_to_write
    ),
    windows: int = typer.Option(6, min=2, help="Moments: of ten times as many random ones those with most to see."),
    horizon: int = typer.Option(16, min=1, help="Model steps to imagine."),
    split: Split = SPLIT,
    seed: int = SEED,
    fps: float = typer.Option(5.0, min=0.5, max=50, help="Pictures a second."),
    cell: int = typer.Option(96, min=32, help="Pixels of each frame."),
    decoder: Path = typer.Option(
        None, help="Folder of the decoder, where it does not lie beside the model."
    ),
    device: str = DEVICE,
) -> None:
    """Film what a model imagines, drawn by its decoder: under the true actions, under none, and under others.

    Example: actswm strip freedoom-maze/contrast --data maze.h5 --split all --out strip.gif
    """
    from ..errors import UserError

    if out.suffix not in (".gif", ".mp4"):
        raise UserError(f"--out {out}: name a .gif or a .mp4")

    from ..data import sample_windows
    from ..diagnosis.strip import livelier, strip_of
    from ..model.decoder import load_decoder
    from ..report.strip_film import FilmRow, strip_pictures, write_strip
    from ..saved_models import locate
    from .checkpoints import load_checkpoints

    loaded = load_checkpoints([checkpoint], device)[0]
    draws = load_decoder(loaded.model, decoder or locate(checkpoint))
    if draws is None:
        raise UserError(f"{checkpoint}: has no decoder yet; `actswm decoder {checkpoint} --data {data}` trains one")
    drawn = sample_windows(
        data,
        TRIED * windows,
        split=split,
        context=loaded.model.context_length,
        horizon=horizon,
        frameskip=loaded.model.encoding.frameskip,
        seed=seed,
    )
    sample = livelier(drawn, windows)
    film = strip_of(loaded.model, draws.draw, sample)
    rows = [FilmRow(row.title, row.frames, row.held, number > 0) for number, row in enumerate(film.rows)]
    title = f"{loaded.name} on {label(data)}, {len(sample)} of {len(drawn)} random moments"
    foot = (
        "blue: predictions, drawn by a decoder that saw real frames only and teaches the model nothing; "
        "moments chosen by what happens"
    )
    pictures = strip_pictures(film.before, rows, title, foot, cell)
    write_strip(pictures, out, fps)
    say(f"{out}: {len(sample)} moments, {horizon} steps, {out.stat().st_size / 1e6:.1f} MB")
