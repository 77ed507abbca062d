"""True counterfactuals, as they are asked for and answered: a state of a game, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .game import Frame


@dataclass(frozen=True)
class BranchPoint:
    """A state, as the way to it, and what is to be tried there.

    `prefix` (n, A) and each alternative (m, A) are raw actions; `every` keeps each `every`-th frame of a future
    (frameskip 4: the frames of the model steps) and draws no others.
    """

    seed: int
    prefix: NDArray[np.floating]
    alternatives: NDArray[np.floating] | Sequence[NDArray[np.floating]]
    every: int = 1


@dataclass(frozen=True)
class Future:
    """`frames[i]` and `pose[i]` (`POSE`) follow the alternative's raw action number (i + 1) * every.

    Where the episode ends earlier (a death), they are fewer than asked for.
    """

    frames: NDArray[np.uint8]
    pose: NDArray[np.float32]


@dataclass(frozen=True)
class Branches:
    """The frame at the branching point, and the future of each alternative."""

    start: Frame
    futures: tuple[Future, ...]


Render = Callable[[Iterable[BranchPoint]], Iterator[Branches]]
"""The game's part: the branches of many points, in order."""
