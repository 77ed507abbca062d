"""Stages 2-4 in one pass over the video: candidates to the judge, valid frames to the dataset file.

Frames wait, already resized, until the verdict that covers them is in; a bounded number of bytes may wait, so
memory does not grow with the recording and slow judges are answered in parallel.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..data import DatasetWriter
from .candidates import CandidateMaker, matched, plan_candidates
from .episodes import EpisodeBuilder, Row
from .frames import CutRules, Drop, Source
from .judging import Judge, Verdict
from .thumbnails import Thumbnail, ThumbnailSheet, thumbnail

WAITING_BYTES = 64 * 2**20
Progress = Callable[[int, int], None]
"""Called with frames done and frames in all."""


@dataclass(frozen=True)
class Outcome:
    """What became of each frame of a source."""

    drop: NDArray[np.uint8]
    episodes: tuple[tuple[int, int, int], ...]
    """(first row, last row, frames) of each episode."""
    verdicts: dict[str, int]
    """Candidates by label."""
    sheet: ThumbnailSheet


@dataclass
class _Pass:
    """The state of one pass."""

    source: Source
    judge: Judge
    builder: EpisodeBuilder
    size: tuple[int, int]
    cuts: CutRules
    drop: NDArray[np.uint8]
    waiting: deque[tuple[int, NDArray[np.uint8]]] = field(default_factory=deque)
    asked: dict[int, tuple[Future[Verdict], Thumbnail]] = field(default_factory=dict)
    labels: Counter[str] = field(default_factory=Counter)
    sheet: ThumbnailSheet = field(default_factory=ThumbnailSheet)

    def run(self, progress: Progress | None) -> None:
        plan = plan_candidates(self.source.table, self.cuts.candidate_ns)
        maker = CandidateMaker()
        most = max(1, WAITING_BYTES // (self.size[0] * self.size[1] * 3))
        missing = self.source.table.kept.copy()
        for row, frame in matched(self.source):
            missing[row] = False
            if frame.corrupt:
                self.drop[row] = Drop.VIDEO_CORRUPT
                continue
            candidate = int(plan.of_row[row])
            if plan.rows[candidate] == row:
                picture = maker.make(frame)
                self.asked[candidate] = (self.judge.submit(picture), thumbnail(frame.pts_ns, picture.rgb))
            self.waiting.append((row, frame.rgb(*self.size)))
            self._settle(plan.of_row, upto=candidate, may_wait=most)
            if progress:
                progress(row + 1, len(missing))
        self._settle(plan.of_row, upto=len(plan.rows), may_wait=0)
        self.builder.end_interval()
        self.drop[missing] = Drop.VIDEO_UNDECODABLE
        self.drop[self.builder.too_short] = Drop.SHORT_INTERVAL
        for future, picture_ in self.asked.values():
            self._count(future.result(), picture_)

    def _settle(self, of_row: NDArray[np.int64], upto: int, may_wait: int) -> None:
        """Pass on the frames whose verdict is in; wait for verdicts while more than `may_wait` are waiting."""
        while self.waiting:
            row, pixels = self.waiting[0]
            candidate = int(of_row[row])
            if candidate in self.asked:
                future, _ = self.asked[candidate]
                if len(self.waiting) <= may_wait and not future.done():
                    return
                if future.result().gameplay:
                    table = self.source.table
                    times = int(table.pts_ns[row]), int(table.shown_ns[row])
                    self.builder.add(Row(row, int(table.segment[row]), *times, pixels, table.action[row]))
                else:
                    self.drop[row] = Drop.NOT_GAMEPLAY
            elif candidate < upto:
                self.drop[row] = (
                    Drop.VIDEO_UNDECODABLE
                )  # the frame that was to be judged for it did not decode
            else:
                return
            self.waiting.popleft()
            for decided in [key for key in self.asked if key < candidate]:
                self._count(self.asked[decided][0].result(), self.asked[decided][1])
                del self.asked[decided]

    def _count(self, verdict: Verdict, picture: Thumbnail) -> None:
        self.labels[verdict.label] += 1
        self.sheet.add(verdict.label, picture)


def export(
    source: Source,
    judge: Judge,
    writer: DatasetWriter | None,
    size: tuple[int, int],
    cuts: CutRules,
    progress: Progress | None = None,
) -> Outcome:
    """Run the pass; `writer` None decides and counts without writing."""
    with EpisodeBuilder(writer, cuts) as builder:
        state = _Pass(source, judge, builder, size, cuts, source.table.drop.copy())
        state.run(progress)
    return Outcome(state.drop, tuple(builder.episodes), dict(state.labels), state.sheet)
