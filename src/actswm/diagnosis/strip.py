"""The imagination as a film: from the same moments, what happens, and what a model expects under three choices."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from ..data import WindowSample, open_checked
from ..data.evaluation import partners
from ..data.loader import sampled_windows
from ..model import Context, WorldModel
from ..model.decoder import Draw


@dataclass(frozen=True)
class StripRow:
    """Frames (W, K, h, w, 3) of W moments, and the controls held on the way to each, (W, K) tuples of names."""

    title: str
    frames: NDArray[np.uint8]
    held: tuple[tuple[tuple[str, ...], ...], ...]


@dataclass(frozen=True)
class Strip:
    """`before` (W, H, h, w, 3): the real frames that everything goes on from, the last of them at t."""

    before: NDArray[np.uint8]
    rows: tuple[StripRow, ...]


def livelier(sample: WindowSample, count: int) -> WindowSample:
    """The windows in whose true frames there is most to see and most changes. No model has a say in it."""
    with open_checked(sample.path) as file:
        last = sample.rows + sample.horizon * sample.frameskip
        ends = [np.stack([file.frames(np.array([row]))[0] for row in rows]) for rows in (sample.rows, last)]
    now, then = (frames.astype(np.float32) for frames in ends)
    detail = np.minimum(now.mean(3).std((1, 2)), then.mean(3).std((1, 2)))
    score = detail * np.abs(now - then).mean((1, 2, 3))
    best = np.sort(np.argsort(-score)[:count])
    episode = sample.episode[best]
    partner = partners(episode, np.random.default_rng(0))
    return replace(sample, rows=sample.rows[best], partner=partner, episode=episode)


@torch.no_grad()
def strip_of(model: WorldModel, draw: Draw, sample: WindowSample) -> Strip:
    """What is true, and what is imagined under the true actions, under none, and under another window's."""
    windows = sampled_windows(sample, model)
    pixels, past = windows.read(range(len(sample)))
    seen = pixels.shape[1] - sample.horizon
    steps = np.arange(sample.horizon * sample.frameskip)
    with open_checked(sample.path) as file:
        recorded = file.action[sample.rows[:, None] + steps]
    sequences = np.stack([recorded, np.zeros_like(recorded), recorded[sample.partner]], 1)
    context = Context(model.encode(pixels[:, :seen]), past[:, : past.shape[1] - sample.horizon])
    latents = model.rollout(context, torch.from_numpy(model.encoding.step_actions(sequences)))
    drawn = draw(latents.flatten(0, 2)).reshape(*latents.shape[:3], *pixels.shape[2:])
    held = [_held(sequences[:, i], sample.frameskip, model.encoding.vocabulary.names) for i in range(3)]
    titles = ("imagined, the same actions", "imagined, no action", "imagined, other actions")
    return Strip(
        pixels[:, :seen].numpy(),
        (
            StripRow("what happens", pixels[:, seen:].numpy(), held[0]),
            *(StripRow(title, drawn[:, i], held[i]) for i, title in enumerate(titles)),
        ),
    )


def _held(
    raw: NDArray[np.float32], frameskip: int, names: tuple[str, ...]
) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Raw actions (W, K * frameskip, A) -> names of what is active in at least half of each model step."""
    active = (raw != 0).reshape(len(raw), -1, frameskip, raw.shape[-1]).mean(2) >= 0.5
    return tuple(
        tuple(tuple(name for name, on in zip(names, step) if on) for step in window) for window in active
    )
