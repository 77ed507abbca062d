"""Filter: scenes and the states of their samples become clips, each kept or rejected with a reason."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .look import Look
from .packs import PLAY
from .scenes import pieces
from .settings import HarvestSettings
from .timeline import Timeline

STATIC = "static"
_STATIC_RUN = 3.0
"""Seconds; a shorter rest is part of playing."""


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


def judge(
    look: Look, timeline: Timeline, samples: list[tuple[int, str]], settings: HarvestSettings
) -> list[Clip]:
    """`samples` are (frame, state) in order."""
    count = len(look.pts)
    labelled = [(frame, _with_rest(look, timeline, frame, state, settings)) for frame, state in samples]
    clips: list[Clip] = []
    for first, end in zip([0, *look.cuts.tolist()], [*look.cuts.tolist(), count]):
        inside = [sample for sample in labelled if first <= sample[0] < end]
        parts = (
            _parts(look, timeline, first, end, inside, settings) if settings.filter.split else [(first, end)]
        )
        for start, stop in parts:
            seconds = _seconds(look, timeline, start, stop)
            for a, b in pieces(start, stop, seconds, settings.cut.longest):
                clips.append(_clip(look, timeline, a, b, labelled, settings))
    return clips


def _with_rest(look: Look, timeline: Timeline, frame: int, state: str, settings: HarvestSettings) -> str:
    """Play in which nothing moves for half a second on either side is static."""
    if state != PLAY or settings.filter.most_static is None:
        return state
    reach = round(0.5 / float(timeline.tick))
    low, high = np.searchsorted(look.pts, (look.pts[frame] - reach, look.pts[frame] + reach))
    return STATIC if float(look.moving[low : max(high, low + 1)].max()) <= settings.filter.still else PLAY


def _parts(
    look: Look,
    timeline: Timeline,
    first: int,
    end: int,
    samples: list[tuple[int, str]],
    settings: HarvestSettings,
) -> list[tuple[int, int]]:
    """A scene cut where its state changes: between two samples, at the frame at which the picture changed most."""
    states = [state for _, state in samples]
    for index in range(1, len(states) - 1):  # words that were missed once in the middle of a menu
        if states[index] == PLAY and states[index - 1] == states[index + 1] != PLAY:
            states[index] = states[index - 1]
    runs: list[list[int]] = []
    for index, state in enumerate(states):
        if runs and states[runs[-1][0]] == state:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    long_rest = _STATIC_RUN * settings.filter.sample_hz
    edges = [first]
    before = None
    for start, stop in runs:
        state = states[start]
        if state == STATIC and stop - start + 1 < long_rest:
            state = PLAY
        kind = "play" if state == PLAY else "static" if state == STATIC else "bad"
        if before is not None and kind != before:
            a, b = samples[start - 1][0], samples[start][0]
            edges.append(a + 1 + int(np.argmax(look.change[a + 1 : b + 1])))
        before = kind
    edges.append(end)
    return [(a, b) for a, b in itertools.pairwise(edges) if b > a]


def _seconds(look: Look, timeline: Timeline, first: int, end: int) -> float:
    return float((_end_pts(look, timeline, end) - int(look.pts[first])) * timeline.tick)


def _end_pts(look: Look, timeline: Timeline, end: int) -> int:
    """Where frame `end - 1` is over: at the next frame, unless a hole or the end follows."""
    usual = max(1, round(1 / timeline.fps / float(timeline.tick)))
    if end >= len(look.pts):
        return int(look.pts[-1]) + usual
    before, after = int(look.pts[end - 1]), int(look.pts[end])
    return before + usual if any(hole == (before, after) for hole in timeline.holes) else after


def _clip(
    look: Look,
    timeline: Timeline,
    first: int,
    end: int,
    labelled: list[tuple[int, str]],
    settings: HarvestSettings,
) -> Clip:
    inside = [state for frame, state in labelled if first <= frame < end]
    if not inside and labelled:
        inside = [min(labelled, key=lambda sample: abs(sample[0] - (first + end) // 2))[1]]
    counts = Counter(inside)
    total = max(1, len(inside))
    rules = settings.filter
    bad = sum(number for state, number in counts.items() if state not in (PLAY, STATIC)) / total
    static = counts[STATIC] / total
    start_pts, end_pts = int(look.pts[first]), _end_pts(look, timeline, end)
    seconds = float((end_pts - start_pts) * timeline.tick)
    verdict = "kept"
    if seconds < settings.cut.shortest - 1e-6:
        verdict = "short"
    elif bad > rules.most_bad:
        verdict = max(
            (state for state in counts if state not in (PLAY, STATIC)), key=lambda state: counts[state]
        )
    elif rules.most_static is not None and static > rules.most_static:
        verdict = STATIC
    offset = timeline.first_pts
    return Clip(
        first,
        end,
        start_pts,
        end_pts,
        round(float((start_pts - offset) * timeline.tick), 6),
        round(float((end_pts - offset) * timeline.tick), 6),
        verdict,
        round(bad, 4),
        round(static, 4),
        dict(sorted(counts.items())),
    )
