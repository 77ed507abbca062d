"""Counterfactuals for the eye: a predicted latent is shown as the recorded frame whose latent is nearest, and drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ..data import open_checked
from ..data.loader import sampled_windows
from ..model import Context, WorldModel
from ..model.decoder import Draw
from .alternatives import KINDS
from .futures import TrueFutures
from .gallery import Gallery


@dataclass(frozen=True)
class Counterfactual:
    """Frames (n, h, w, 3) at the shown steps: true ones (black once the future has ended), and stand-ins for the
    predicted latents.

    `controls` says which controls were active, and for which share of the raw steps. `drawn` is what a decoder makes
    of the same latents.
    """

    kind: str
    controls: str
    true: NDArray[np.uint8]
    predicted: NDArray[np.uint8]
    drawn: NDArray[np.uint8] | None = None


@dataclass(frozen=True)
class Sheet:
    """A window's context frames, and each of its futures, the recorded one first."""

    context: NDArray[np.uint8]
    steps: tuple[int, ...]
    futures: tuple[Counterfactual, ...]


def telling_window(futures: TrueFutures) -> int:
    """The window whose true futures look least alike: there a model has something to say."""
    frames = futures.frames()
    spread = [
        np.std([frames[window * len(KINDS) + future][0].numpy() for future in range(len(KINDS))], 0).mean()
        for window in range(len(futures.raw))
    ]
    return int(np.argmax(spread))


@torch.no_grad()
def counterfactual_sheet(
    model: WorldModel,
    futures: TrueFutures,
    window: int,
    steps: tuple[int, ...],
    gallery: int = 4000,
    seed: int = 0,
    draw: Draw | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Sheet:
    """One window of `futures`. Stand-ins come from `gallery` recorded frames, none of the window's own episode.

    `progress` hears how many gallery frames are encoded, and of how many.
    """
    contexts = sampled_windows(futures.sample, model, future=False)
    pixels, past = contexts[window]
    context = Context(model.encode(pixels[None]), past[None])
    raw = futures.raw[window]
    predicted = model.rollout(context, torch.from_numpy(model.encoding.step_actions(raw))[None])[0]
    places = [step - 1 for step in steps]
    with open_checked(futures.sample.path) as file:
        elsewhere = file.episode_idx != file.episode_idx[futures.sample.rows[window]]
        rows = np.flatnonzero(file.frame_valid & elsewhere)
    looks = Gallery.of(model, futures.sample.path, rows, gallery, seed, progress)
    asked, shape = predicted[:, places].flatten(0, 1), (len(KINDS), len(steps), *pixels.shape[1:])
    standing_in = looks.nearest(asked).reshape(shape)
    drawn = draw(asked).reshape(shape) if draw else None
    true = futures.frames(model.config.image_size)
    entries = []
    for future, kind in enumerate(KINDS):
        frames, _ = true[window * len(KINDS) + future]
        entries.append(
            Counterfactual(
                kind,
                _describe(raw[future], model.encoding.vocabulary.names),
                np.where(
                    futures.valid[window, future, places, None, None, None], frames[1:][places].numpy(), 0
                ),
                standing_in[future],
                None if drawn is None else drawn[future],
            )
        )
    return Sheet(pixels.numpy(), steps, tuple(entries))


def _describe(raw: NDArray[np.float32], names: tuple[str, ...]) -> str:
    share = (raw != 0).mean(0)
    held = [name if part == 1 else f"{name} {part:.0%}" for name, part in zip(names, share) if part > 0]
    return ", ".join(held) or "nothing"
