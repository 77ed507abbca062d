"""Stage 2: which frames are shown to the judge, and which frames each verdict covers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..formats.video import DecodedFrame
from .frames import FrameTable, Source
from .judging import Candidate

JUDGING_WIDTH = 640
_STILL_SIZE = (36, 64)
_STILL_DIFFERENCE = 0.5
"""Mean grey difference below which two candidates show the same picture; codec noise stays under it."""


@dataclass(frozen=True)
class CandidatePlan:
    """`rows` are the candidates' rows; `of_row` gives each kept row its candidate (-1 where dropped)."""

    rows: NDArray[np.int64]
    of_row: NDArray[np.int64]


def plan_candidates(table: FrameTable, every_ns: int) -> CandidatePlan:
    """In each segment a frame every `every_ns`, and its last frame if that is more than half as far again.

    So no kept frame is further than half the interval (and a gap inside the segment) from the candidate that
    decides over it.
    """
    chosen: list[int] = []
    of_row = np.full(len(table.pts_ns), -1, np.int64)
    kept = np.flatnonzero(table.segment >= 0)
    for rows in np.split(kept, np.flatnonzero(np.diff(table.segment[kept])) + 1) if len(kept) else []:
        times = table.pts_ns[rows]
        marks = np.arange(times[0], times[-1] + 1, every_ns)
        picks = np.unique(np.searchsorted(times, marks))
        if times[-1] - times[picks[-1]] > every_ns // 2:
            picks = np.append(picks, len(rows) - 1)
        middles = (times[picks[:-1]] + times[picks[1:]]) // 2
        of_row[rows] = len(chosen) + np.searchsorted(middles, times, side="left")
        chosen.extend(rows[picks].tolist())
    return CandidatePlan(np.array(chosen, np.int64), of_row)


def matched(source: Source) -> Iterator[tuple[int, DecodedFrame]]:
    """Decoded frames with their rows; only kept rows, each at most once, in order. Resampled rows share frames."""
    rows = np.flatnonzero(source.table.kept)
    times = source.table.shown_ns[rows]
    after = 0
    for frame in source.decode():
        first, last = (int(np.searchsorted(times, frame.pts_ns, side)) for side in ("left", "right"))
        if after <= first < last:
            after = last
            for row in rows[first:last].tolist():
                yield row, frame


class CandidateMaker:
    """Brings frames to judging size and measures for how long the picture has stood still."""

    def __init__(self) -> None:
        self._last: NDArray[np.float32] | None = None
        self._since_ns = 0

    def make(self, frame: DecodedFrame) -> Candidate:
        height, width = frame.shape
        scale = min(1.0, JUDGING_WIDTH / width)
        rgb = frame.rgb(max(1, round(height * scale)), max(1, round(width * scale)))
        small = frame.rgb(*_STILL_SIZE).mean(-1, dtype=np.float32)
        if self._last is None or np.abs(small - self._last).mean() > _STILL_DIFFERENCE:
            self._last, self._since_ns = small, frame.pts_ns
        return Candidate(frame.pts_ns, rgb, frame.pts_ns - self._since_ns)


def candidates_of(source: Source, every_ns: int) -> Iterator[Candidate]:
    """Decode the candidates alone, as batch mode needs them before anything is exported."""
    wanted = set(plan_candidates(source.table, every_ns).rows.tolist())
    maker = CandidateMaker()
    for row, frame in matched(source):
        if row in wanted and not frame.corrupt:
            yield maker.make(frame)
