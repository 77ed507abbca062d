"""Train a decoder on the latents of a frozen model: no gradient reaches the model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ..data import open_checked
from ..data.loader import WindowDataset
from ..errors import UserError
from ..model import WorldModel
from ..model.decoder import Decoder, DecoderConfig
from .module import learning_rate_factor

BATCH = 64
LEARNING_RATE = 2e-3
EDGES = 0.3
"""Weight of the differences between neighbouring pixels: without them walls blur into each other."""


def train_decoder(
    model: WorldModel,
    data: Path,
    *,
    frames: int = 20_000,
    steps: int = 1_500,
    seed: int = 0,
    width: int = 64,
    progress: Callable[[str, int, int, str], None] = lambda bar, done, total, note: None,
) -> tuple[Decoder, float]:
    """A decoder, and its mean absolute error per channel (0 to 1) on frames of the file that it was not trained on."""
    with open_checked(data) as file:
        rows = np.flatnonzero(file.frame_valid)
    if len(rows) < 2:
        raise UserError(f"{data}: has no two valid frames to learn from; choose another file")
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(rows, min(frames, len(rows)), replace=False))
    windows = WindowDataset(data, model.encoding, 1, rows, model.config.image_size)
    pixels, latents = [], []
    for first in range(0, len(rows), 256):
        index = range(first, min(first + 256, len(rows)))
        pixels.append(windows.read(index)[0])
        latents.append(model.encode_fixed(pixels[-1])[:, 0])
        progress("encoding", index[-1] + 1, len(rows), "")
    seen, known = torch.cat(pixels)[:, 0], torch.cat(latents)
    order = torch.from_numpy(rng.permutation(len(rows)))
    tried = max(1, len(rows) // 20)
    learnt, held = order[tried:], order[:tried]
    torch.manual_seed(seed)
    decoder = Decoder(DecoderConfig(model.config.latent_dim, model.config.image_size, width)).to(model.device)
    optimizer = torch.optim.AdamW(decoder.parameters(), LEARNING_RATE, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: learning_rate_factor(step, 100, steps))
    for step in range(steps):
        chosen = learnt[torch.from_numpy(rng.integers(len(learnt), size=BATCH))]
        loss = _difference(decoder(known[chosen]), _colours(seen[chosen], model.device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if (step + 1) % 50 == 0 or step + 1 == steps:
            progress("decoder", step + 1, steps, f"loss {float(loss.detach()):.4f}")
    decoder.eval()
    with torch.no_grad():
        drawn = torch.cat([decoder(known[part]) for part in held.split(256)])
    return decoder, float((drawn - _colours(seen[held], model.device)).abs().mean())


def _colours(frames: Tensor, device: torch.device) -> Tensor:
    """(n, h, w, 3) uint8 -> (n, 3, h, w) in [0, 1]."""
    return frames.to(device).permute(0, 3, 1, 2).float() / 255


def _difference(drawn: Tensor, true: Tensor) -> Tensor:
    """Mean absolute error of the pixels and of the steps between neighbours."""
    error = drawn - true
    edges = error.diff(dim=-1).abs().mean() + error.diff(dim=-2).abs().mean()
    return error.abs().mean() + EDGES * edges
