"""Policies that act in whole chunks of a library: scripted experts, random ones, explorers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..game import Frame, Info
from . import ChunkLibrary


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
    return ChunkPolicy(library, lambda info: library.draw(rng).name)


def sticky_chunks(library: ChunkLibrary, rng: np.random.Generator, mean: float = 3.0) -> ChunkPolicy:
    """Explores: any chunk as likely as any other, and again and again, `mean` times on average."""

    def names() -> Iterator[str]:
        while True:
            yield from itertools.repeat(str(rng.choice(library.names)), int(rng.geometric(1 / mean)))

    drawn = names()
    return ChunkPolicy(library, lambda info: next(drawn))
