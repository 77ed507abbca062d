"""Policies that act in whole chunks of a library: scripted experts, and the random baseline."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...game import Frame
from ..chunks import ChunkLibrary
from .task import Info


class ChunkPolicy:
    """Asks `choose` for a chunk's name whenever the last chunk has been played, raw step by raw step."""

    def __init__(self, library: ChunkLibrary, choose: Callable[[Info], str]) -> None:
        self._library, self._choose = library, choose
        self._left: list[NDArray[np.float32]] = []

    def act(self, frame: Frame, info: Info) -> NDArray[np.float32]:
        if not self._left:
            self._left = list(self._library[self._choose(info)].steps)
        return self._left.pop(0)


def random_chunks(library: ChunkLibrary, rng: np.random.Generator) -> ChunkPolicy:
    """Chunks drawn by their prior weights."""
    return ChunkPolicy(library, lambda info: str(rng.choice(library.names, p=library.weights)))
