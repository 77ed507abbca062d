"""Filter: scenes and the states of their samples become clips, each kept or rejected with a reason."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .look import Look
from .packs import PLAY
from .scenes import pieces
from .settings import HarvestSettings
from .timeline import Timeline

STATIC, DAMAGED = "static", "damaged"


@dataclass(frozen=True)
class Clip:
    """Frames `first` to before `end` as decoded, and their times in the source's own ticks."""

    first: int
    end: int
    start_pts: int
    end_pts: int
    start_s: float
    """From the source's first frame."""
    end_s: float
    verdict: str
    """`kept`, or why not."""
    bad: float
    static: float
    states: dict[str, int]

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Clip:
        return cls(**{name: content[name] for name in cls.__dataclass_fields__})


def clips_of(
    look: Look, timeline: Timeline, samples: list[tuple[int, str]], settings: HarvestSettings
) -> list[Clip]:
    """`samples` are (frame, state) in order."""
    footage = _Footage(look, timeline, samples, settings)
    cuts = np.union1d(look.cuts, np.flatnonzero(np.diff(look.damaged)) + 1).tolist()
    return [
        footage.clip(a, b)
        for first, end in zip([0, *cuts], [*cuts, len(look.pts)])
        for start, stop in (footage.parts(first, end) if settings.filter.split else [(first, end)])
        for a, b in pieces(start, stop, footage.seconds(start, stop), settings.cut.longest)
    ]


class _Footage:
    """One video's frames, and what was seen in them."""

    def __init__(
        self, look: Look, timeline: Timeline, samples: list[tuple[int, str]], settings: HarvestSettings
    ) -> None:
        self._look, self._timeline, self._samples, self._settings = look, timeline, samples, settings
        self._at_rest = self._rests()

    def parts(self, first: int, end: int) -> list[tuple[int, int]]:
        """A scene cut where its state changes, and where play comes to rest or goes on."""
        found: list[tuple[int, int]] = []
        for start, stop, plays in self._by_state(first, end):
            turns = np.flatnonzero(np.diff(self._at_rest[start:stop])) + start + 1
            found += itertools.pairwise([start, *(turns.tolist() if plays else ()), stop])
        return found

    def _by_state(self, first: int, end: int) -> list[tuple[int, int, bool]]:
        """Stretches that show play or do not: between two samples, cut where the picture changed most."""
        samples = [sample for sample in self._samples if first <= sample[0] < end]
        plays = [state == PLAY for _, state in samples]
        for index in range(1, len(plays) - 1):
            if not plays[index - 1] and not plays[index + 1]:
                plays[index] = False  # words that were missed once in the middle of a menu
        edges = [first]
        for ((left, _), (right, _)), (before, after) in zip(
            itertools.pairwise(samples), itertools.pairwise(plays)
        ):
            if before != after:
                edges.append(left + 1 + int(np.argmax(self._look.change[left + 1 : right + 1])))
        begun = plays[0] if plays else True
        return [
            (start, stop, begun != bool(number % 2))
            for number, (start, stop) in enumerate(itertools.pairwise([*edges, end]))
        ]

    def _rests(self) -> NDArray[np.bool_]:
        """Frames of stretches, long enough for a clip, in which nothing moves; a shorter rest is part of playing."""
        rules = self._settings.filter
        at_rest = np.zeros(len(self._look.pts), bool)
        if rules.most_static is None:
            return at_rest
        still = np.concatenate([[False], self._look.moving <= rules.still, [False]])
        for start, stop in np.flatnonzero(np.diff(still)).reshape(-1, 2).tolist():
            at_rest[start:stop] = self.seconds(start, stop) >= self._settings.cut.shortest
        return at_rest

    def seconds(self, first: int, end: int) -> float:
        return float((self._end_pts(end) - int(self._look.pts[first])) * self._timeline.tick)

    def _end_pts(self, end: int) -> int:
        """Where frame `end - 1` is over: at the next frame, unless a hole or the end follows."""
        pts, timeline = self._look.pts, self._timeline
        usual = max(1, round(1 / timeline.fps / float(timeline.tick)))
        if end >= len(pts):
            return int(pts[-1]) + usual
        before, after = int(pts[end - 1]), int(pts[end])
        return before + usual if any(hole == (before, after) for hole in timeline.holes) else after

    def clip(self, first: int, end: int) -> Clip:
        inside = [state for frame, state in self._samples if first <= frame < end]
        if not inside and self._samples:
            middle = (first + end) // 2
            inside = [min(self._samples, key=lambda sample: abs(sample[0] - middle))[1]]
        counts = Counter(inside)
        bad_states = [state for state in counts if state != PLAY]
        bad = sum(counts[state] for state in bad_states) / max(1, len(inside))
        static = float(np.mean(self._at_rest[first:end]))
        rules, seconds = self._settings.filter, self.seconds(first, end)
        verdict = "kept"
        if self._look.damaged[first:end].any():
            verdict = DAMAGED
        elif seconds < self._settings.cut.shortest - 1e-6:
            verdict = "short"
        elif bad > rules.most_bad:
            verdict = max(bad_states, key=lambda state: counts[state])
        elif rules.most_static is not None and static > rules.most_static:
            verdict = STATIC
        start_pts, end_pts = int(self._look.pts[first]), self._end_pts(end)
        offset, tick = self._timeline.first_pts, self._timeline.tick
        return Clip(
            first,
            end,
            start_pts,
            end_pts,
            round(float((start_pts - offset) * tick), 6),
            round(float((end_pts - offset) * tick), 6),
            verdict,
            round(bad, 4),
            round(static, 4),
            dict(sorted(counts.items())),
        )
