"""Label a stream of frames with recovered actions, holding no more of it than one search needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import UserError
from ..model import Context, WorldModel
from .search import Searcher
from .steps import held_raw, step_actions


@dataclass(frozen=True)
class LabelledRows:
    """Raw steps: frames (n, h, w, 3), actions (n, A) with buttons 0 or 1, and what they were made of.

    `score` (n, A) is what the search found before the threshold, `gain` (n,) that of the step's search.
    """

    pixels: NDArray[np.uint8]
    action: NDArray[np.float32]
    score: NDArray[np.float32]
    gain: NDArray[np.float32]


@torch.no_grad()
def label_frames(
    search: Searcher, frames: Iterable[NDArray[np.uint8]], window: int = 1
) -> Iterator[LabelledRows]:
    """Frames at the model's size, one a raw step -> the same frames with actions, `window` model steps at a time.

    The history before the first frame is that frame and no-ops. The last frame closes the sequence with a no-op
    of gain 0; up to frameskip - 1 frames that make no whole step are left out.
    """
    model, skip = search.model, search.model.encoding.frameskip
    pending: list[NDArray[np.uint8]] = []
    context: Context | None = None
    previous: Tensor | None = None
    stream, ended = iter(frames), False
    while not ended:
        while len(pending) <= window * skip and not ended:
            frame = next(stream, None)
            ended = frame is None
            if frame is not None:
                pending.append(frame)
        steps = (len(pending) - 1) // skip
        if steps == 0:
            break
        seen = np.stack(pending[: steps * skip + 1])
        latents = model.encode(torch.from_numpy(seen[::skip].copy())[None])
        context = context or Context.start(model, latents[:, 0])
        found = search.find(context, latents[0, 1:], previous)
        done = step_actions(found.actions, model.encoding)
        context = context.after(latents[:, 1:], done[None], model.context_length)
        previous = found.actions[-1]
        yield _rows(model, seen[:-1], found.actions.float().numpy(), found.gain)
        del pending[: steps * skip]
    if context is None:
        raise UserError(f"has {len(pending)} frames; one step needs {skip + 1}")
    nothing = np.zeros((1, model.encoding.vocabulary.size), np.float32)
    yield LabelledRows(np.stack(pending[:1]), nothing, nothing, np.zeros(1, np.float32))


def _rows(
    model: WorldModel, pixels: NDArray[np.uint8], vectors: NDArray[np.float32], gain: float
) -> LabelledRows:
    encoding = model.encoding
    pressed = np.where(encoding.vocabulary.binary, vectors > 0.5, vectors)
    return LabelledRows(
        pixels,
        held_raw(pressed, encoding),
        np.repeat(vectors, encoding.frameskip, 0),
        np.full(len(pixels), gain, np.float32),
    )
