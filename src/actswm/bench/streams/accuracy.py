"""Cuts and kept footage measured on streams of real captures, made with seeds of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ...atomic import write_whole
from ...curation.harvest.named import Named
from ...curation.harvest.plan import Plan
from ...curation.harvest.settings import settings_of
from .freedoom_takes import freedoom_take
from .measure import Figures, filtered, measure
from .minetest_takes import minetest_takes
from .openarena_takes import openarena_takes
from .reuploads import Reuploads, measure_reuploads
from .stream import Style, make_stream
from .takes import Take

STYLES = (
    Style(360, 640, 30, webcam=True, fade_s=0.5),
    Style(360, 800, 60, bars=(0, 80)),
    Style(480, 640, 24, "mpeg4", ".mkv", bars=(60, 0), variable=True),
)
"""Taken in turns: a web-cam box and fades; columns and 60 frames a second; rows, frames left out, another codec."""
_SPLIT = 200
"""A take with more frames may be cut in two, so that play follows on play."""
_OTHER_MAP = 100_003
"""Added to a seed of Freedoom for its second take."""


def capture(game: str, seed: int, seconds: float, folder: Path) -> list[Take]:
    """The takes of a game and seed; those that lie in `folder` are used again."""
    done = folder / f"{game}-{seed}.done"
    if done.exists():
        return [Take.load(folder / name) for name in done.read_text().split()]
    if game == "freedoom":
        takes = [freedoom_take(folder, seed + other, seconds) for other in (0, _OTHER_MAP)]
    elif game == "minetest":
        takes = minetest_takes(folder, seed, seconds)
    else:
        takes = openarena_takes(folder, seed, seconds, takes=2)
    write_whole(done, "\n".join(take.path.name for take in takes))
    return takes


def parts_of(takes: Sequence[Take], seed: int) -> list[tuple[Take, int, int]]:
    """Takes, whole or in two parts, in an order that the seed draws."""
    rng = np.random.default_rng([seed, 7])
    parts: list[tuple[Take, int, int]] = []
    for take in takes:
        end = len(take.labels)
        if end > _SPLIT and rng.random() < 0.6:
            middle = int(end * rng.uniform(0.3, 0.7))
            parts += [(take, 0, middle), (take, middle, end)]
        else:
            parts.append((take, 0, end))
    return [parts[i] for i in rng.permutation(len(parts))]


def measure_domain(
    game: str,
    seeds: Sequence[int],
    seconds: float,
    folder: Path,
    progress: Callable[[str], None] = lambda what: None,
) -> Figures:
    """One stream a seed, in the next style; its domain's own settings judge it."""
    takes, (streams, work, _) = folder / "takes", _folders(game, folder)
    for path in (takes, streams):
        path.mkdir(parents=True, exist_ok=True)
    truths = {}
    for number, seed in enumerate(seeds):
        progress(f"{game}, seed {seed}: playing")
        parts = parts_of(capture(game, seed, seconds, takes), seed)
        style = STYLES[number % len(STYLES)]
        path = streams / f"{seed}{style.suffix}"
        truths[path.name] = make_stream(path, parts, style, seed)
    progress(f"{game}: cutting and filtering")
    videos = filtered(work, Plan(settings_of(game), Named(local=(str(streams),))))
    return measure(work, [(video.id, truths[Path(video.path).name]) for video in videos])


def measure_duplicates(game: str, folder: Path) -> Reuploads:
    """After `measure_domain`: its streams come a second time, as re-uploads."""
    streams, work, copies = _folders(game, folder)
    return measure_reuploads(work, streams, copies, settings_of(game))


def _folders(game: str, folder: Path) -> tuple[Path, Path, Path]:
    return folder / f"{game}-streams", folder / f"{game}-harvest", folder / f"{game}-copies"
