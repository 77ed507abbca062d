"""Label a stream of frames by inverse dynamics, holding no more of it than the model looks around a step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from .domain import EVERY
from .motion import MotionMeter
from .motion_idm import MotionIdm, MotionLabels

_BLOCK = 512
"""Frames that are measured and labelled at once."""


@dataclass(frozen=True)
class MotionRows:
    """Frames (n, h, w, 3) and what was pressed from each to the next."""

    pixels: NDArray[np.uint8]
    labels: MotionLabels


def label_motion(
    model: MotionIdm, frames: Iterable[NDArray[np.uint8]], block: int = _BLOCK
) -> Iterator[MotionRows]:
    """Frames at the model's size, one a raw step -> the same frames with labels, as if all had been seen at once.

    The last frame closes the sequence with a no-op, as sure as the step before it.
    """
    meter, stream = MotionMeter(model.grid), iter(frames)
    pending: list[NDArray[np.uint8]] = []
    motion = np.zeros((0, model.grid.size), np.float32)
    first = done = 0  # the steps that motion[0] and pending[0] stand for
    while part := list(islice(stream, block)):
        pending += part
        motion = np.concatenate([motion, meter.measure(part)])
        ready = first + len(motion) - model.reach
        if ready > done:
            labels = _sliced(model.label(motion), done - first, ready - first)
            yield MotionRows(np.stack(pending[: ready - done]), labels)
            del pending[: ready - done]
            keep = max(0, ready - model.reach) // EVERY * EVERY
            motion, first, done = motion[keep - first :], keep, ready
    if not len(motion):
        raise UserError(f"has {len(pending)} frames; one step needs 2")
    labels = model.label(motion)
    closed = MotionLabels(
        *(np.concatenate([part, part[-1:] * still]) for part, still in _with_last(labels)),
    )
    yield MotionRows(np.stack(pending), _sliced(closed, done - first, len(motion) + 1))


def _with_last(labels: MotionLabels) -> Iterator[tuple[NDArray[np.float32], int]]:
    """Each part, and whether its last row is kept (1) or becomes nothing (0) in the frame that closes a video."""
    yield from ((labels.probability, 0), (labels.action, 0), (labels.confidence, 1), (labels.off_domain, 1))


def _sliced(labels: MotionLabels, begin: int, end: int) -> MotionLabels:
    parts = (labels.probability, labels.action, labels.confidence, labels.off_domain)
    return MotionLabels(*(part[begin:end] for part in parts))
