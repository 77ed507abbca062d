"""Keep what a person plays: episodes of unknown length, row by row, as a dataset file, as OWAMcap, or both."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import DatasetSpec, DatasetWriter
from ..game import Frame, Game
from .episodes import RecordingPlan, pose_of
from .recording import dataset_spec, open_owamcap, require_same_plan

AddRow = Callable[[Frame, NDArray[np.float32], dict[str, Any]], None]
"""Takes a frame, the action taken in it, and the frame's `info`."""
BATCH = 16
"""Rows that are written to the dataset file at once."""


class Tape:
    """Episodes go to the dataset file `path` and as `episode-00000.mcap` into the folder `owamcap`, if given.

    A file of the same plan is continued. A new one that got no episode is removed again.
    """

    def __init__(self, plan: RecordingPlan, game: Game, path: Path | None, owamcap: Path | None) -> None:
        self.path, self.owamcap = path, owamcap
        self.episodes = self.frames = 0
        """Kept so far, by this tape."""
        self._spec = dataset_spec(plan, game)
        self._fresh = path is not None and not path.exists()
        if path is not None and not self._fresh:
            require_same_plan(path, self._spec)
        self._writer = DatasetWriter(path, self._spec) if path is not None else None
        self.before = self._writer.num_episodes if self._writer else self._next_number()
        """Episodes that were there already."""

    @contextlib.contextmanager
    def episode(self, seed: int) -> Iterator[AddRow]:
        """Leaving the block keeps the episode, unless it is empty; an exception takes it back."""
        rows = 0
        with contextlib.suppress(_Empty), contextlib.ExitStack() as stack:
            adders = [stack.enter_context(adder) for adder in self._adders(seed)]

            def add(frame: Frame, action: NDArray[np.float32], info: dict[str, Any]) -> None:
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

    def _adders(self, seed: int) -> Iterator[contextlib.AbstractContextManager[AddRow]]:
        if self._writer is not None:
            yield _dataset_rows(self._writer, seed)
        if self.owamcap is not None:
            yield _owamcap_rows(self.owamcap / f"episode-{self._next_number():05}.mcap", self._spec)

    def close(self) -> None:
        if self._writer is not None:
            empty = self._writer.num_episodes == 0
            self._writer.close()
            if empty and self._fresh and self.path is not None:
                self.path.unlink()

    def __enter__(self) -> Tape:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _next_number(self) -> int:
        """Of the OWAMcap episodes: one more than the highest there is."""
        if self.owamcap is None:
            return 0
        names = (path.stem.removeprefix("episode-") for path in self.owamcap.glob("episode-*.mcap"))
        return max((int(name) + 1 for name in names if name.isdigit()), default=0)


class _Empty(Exception):
    """The episode has no row."""


@contextlib.contextmanager
def _dataset_rows(writer: DatasetWriter, seed: int) -> Iterator[AddRow]:
    with writer.episode() as episode:
        waiting: list[tuple[Frame, NDArray[np.float32], list[float]]] = []

        def flush() -> None:
            pixels, action, pose = (np.stack(column) for column in zip(*waiting))
            episode.add(pixels, action, seed=np.full(len(waiting), seed), pose=pose)
            waiting.clear()

        def add(frame: Frame, action: NDArray[np.float32], info: dict[str, Any]) -> None:
            waiting.append((frame, action, pose_of(info["telemetry"])))
            if len(waiting) == BATCH:
                flush()

        yield add
        if waiting:
            flush()


@contextlib.contextmanager
def _owamcap_rows(path: Path, spec: DatasetSpec) -> Iterator[AddRow]:
    with open_owamcap(path, spec) as writer:
        yield lambda frame, action, info: writer.add(frame, action)
