"""Stage 4: valid frames become episodes of a dataset file."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..data import DatasetWriter
from ..data.writer import EpisodeWriter
from .frames import CutRules

_BLOCK = 64
"""Rows written to the file at once."""


@dataclass(frozen=True)
class Row:
    """One valid frame, ready to be written."""

    index: int
    segment: int
    pts_ns: int
    shown_ns: int
    """The video time of the picture, which is `pts_ns` unless the source was resampled."""
    pixels: NDArray[np.uint8]
    action: NDArray[np.float32]


@dataclass
class EpisodeBuilder:
    """Takes valid frames in order and cuts them into episodes.

    Neighbours no further apart than the gap limit belong together (the merge of Appendix F). Rows are held back
    until the interval is long enough to stay and until it is known how near its end they are, so memory does not
    grow with the episode. Without a writer it only counts.
    """

    writer: DatasetWriter | None
    cuts: CutRules
    episodes: list[tuple[int, int, int]] = field(default_factory=list)
    """(first row, last row, number of frames) of each episode."""
    too_short: list[int] = field(default_factory=list)
    """Rows of intervals that were dropped because they were too short."""
    _waiting: list[Row] = field(default_factory=list)
    _first: Row | None = None
    _last: Row | None = None
    _count: int = 0
    _long_enough: bool = False
    _block: AbstractContextManager[EpisodeWriter] | None = None
    _episode: EpisodeWriter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take back an episode that was under way when something went wrong, while its file is still there."""
        if self._block is not None:
            block, self._block = self._block, None
            block.__exit__(kind, error, trace)

    def add(self, row: Row) -> None:
        if self._last is not None and (
            row.segment != self._last.segment or row.pts_ns - self._last.pts_ns > self.cuts.gap_ns
        ):
            self.end_interval()
        self._first = self._first or row
        self._last = row
        self._count += 1
        self._waiting.append(row)
        self._long_enough = self._long_enough or row.pts_ns - self._first.pts_ns >= self.cuts.shortest_ns
        if self._long_enough and len(self._waiting) >= _BLOCK + self.cuts.edge_frames:
            self._write(self._waiting[:_BLOCK])
            del self._waiting[:_BLOCK]

    def end_interval(self) -> None:
        """Finish the interval under way: an episode, or too short."""
        if self._first is not None and self._last is not None:
            if self._long_enough:
                self._write(self._waiting, at_end=True)
                if self._block is not None:
                    self._block.__exit__(None, None, None)
                self.episodes.append((self._first.index, self._last.index, self._count))
            else:
                self.too_short.extend(row.index for row in self._waiting)
        self._waiting, self._first, self._last, self._count = [], None, None, 0
        self._long_enough, self._block, self._episode = False, None, None

    def _write(self, rows: list[Row], at_end: bool = False) -> None:
        if self.writer is None or not rows:
            return
        if self._episode is None:
            self._block = self.writer.episode()
            self._episode = self._block.__enter__()
        position = self._episode.length + np.arange(len(rows))
        edge = position < self.cuts.edge_frames
        if at_end:
            edge |= position >= self._count - self.cuts.edge_frames
        self._episode.add(
            np.stack([row.pixels for row in rows]),
            np.stack([row.action for row in rows]),
            ~edge,
            pts_ns=np.array([row.shown_ns for row in rows]),
        )
