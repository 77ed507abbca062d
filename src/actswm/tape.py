"""What a person plays: episodes of unknown length, handed on row by row to whatever keeps them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from .game import Frame, Info, RawAction

AddRow = Callable[[Frame, RawAction, Info], None]
"""Takes a frame, the action taken in it, and the frame's `info`."""
Keeper = Callable[[int], AbstractContextManager[AddRow]]
"""Keeps an episode of a seed when its block is left, and takes it back if that is by an exception."""


class Tape:
    def __init__(self, keepers: Sequence[Keeper], before: int) -> None:
        self._keepers = keepers
        self.before = before
        """Episodes that were there already."""
        self.episodes = self.frames = 0
        """Kept so far, by this tape."""

    @contextlib.contextmanager
    def episode(self, seed: int) -> Iterator[AddRow]:
        """Leaving the block keeps the episode, unless it is empty; an exception takes it back."""
        rows = 0
        with contextlib.suppress(_Empty), contextlib.ExitStack() as stack:
            adders = [stack.enter_context(keeper(seed)) for keeper in self._keepers]

            def add(frame: Frame, action: RawAction, info: Info) -> None:
                nonlocal rows
                rows += 1
                for adder in adders:
                    adder(frame, action, info)

            yield add
            if not rows:
                raise _Empty
        if rows and adders:
            self.episodes += 1
            self.frames += rows


class _Empty(Exception):
    """The episode has no row."""
