"""What flows between the stages: the frames of one source, each with its action and why it was dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ..formats.owamcap import ClockOffset
from ..formats.video import MS, NS, DecodedFrame

SLOWEST_FPS = 0.01
"""Rates are written with two decimals, and 0 is none."""


class Drop(IntEnum):
    """Why a frame was dropped; a frame counts under the first reason that applied."""

    KEPT = 0
    TIMESTAMP_BACKWARDS = 1
    TIMESTAMP_DUPLICATE = 2
    TIMESTAMP_JUMP = 3
    KEYBOARD_UNREADABLE = 4
    MOUSE_UNREADABLE = 5
    INPUT_SILENT = 6
    DEATH = 7
    GUI_OPEN = 8
    SHORT_SEGMENT = 9
    VIDEO_UNDECODABLE = 10
    NOT_GAMEPLAY = 11
    SHORT_INTERVAL = 12
    VIDEO_CORRUPT = 13


@dataclass(frozen=True)
class CutRules:
    """How kept frames become segments (stage 1) and intervals (stage 3)."""

    gap_ns: int = 150 * MS
    """Frames further apart than this belong to different segments."""
    shortest_ns: int = 200 * MS
    """Segments and intervals shorter than this are dropped."""
    edge_frames: int = 3
    """Frames this close to an episode's end are written with `frame_valid` 0."""
    candidate_ns: int = NS
    """A candidate for the judge is taken this often."""


@dataclass(frozen=True)
class FrameTable:
    """Every frame of a source in order: time, action, drop reason, and segment (-1 where dropped).

    `shown_ns` is the video time of the picture that a row shows: its own time, unless the source was resampled.
    """

    pts_ns: NDArray[np.int64]
    action: NDArray[np.float32]
    drop: NDArray[np.uint8]
    segment: NDArray[np.int32]
    shown_ns: NDArray[np.int64]

    @property
    def kept(self) -> NDArray[np.bool_]:
        return self.drop == Drop.KEPT


@dataclass(frozen=True)
class Source:
    """A prefiltered recording whose frames can be decoded, in the order of the table."""

    name: str
    table: FrameTable
    fps: float
    decode: Callable[[], Iterator[DecodedFrame]]
    resampled: bool = False
    """Are the rows `fps` steps a second, or frames as they came?"""
    clock: ClockOffset | None = None
    """Between the input log and the video, where they have clocks of their own."""
    unreadable: Mapping[str, int] = field(default_factory=dict)
    """What was wrong with messages or lines that did not decode, and how often."""
    notes: tuple[str, ...] = ()
    """What a person should know of the recording itself."""


def segmented(
    pts_ns: NDArray[np.int64], action: NDArray[np.float32], drop: NDArray[np.uint8], rules: CutRules
) -> FrameTable:
    """Split the kept frames at gaps, and drop the segments that are too short."""
    drop = drop.copy()
    segment = np.full(len(drop), -1, np.int32)
    count = 0
    for rows in runs(pts_ns, np.flatnonzero(drop == Drop.KEPT), rules.gap_ns):
        if pts_ns[rows[-1]] - pts_ns[rows[0]] < rules.shortest_ns:
            drop[rows] = Drop.SHORT_SEGMENT
        else:
            segment[rows] = count
            count += 1
    return FrameTable(pts_ns, action, drop, segment, pts_ns)


def runs(pts_ns: NDArray[np.int64], rows: NDArray[np.int64], gap_ns: int) -> list[NDArray[np.int64]]:
    """`rows` cut wherever two neighbours are more than `gap_ns` apart."""
    if not len(rows):
        return []
    return np.split(rows, np.flatnonzero(np.diff(pts_ns[rows]) > gap_ns) + 1)


def nominal_fps(pts_ns: NDArray[np.int64]) -> float:
    """The usual frame rate of a variable-rate video, from the intervals that are about as long as the median."""
    intervals = np.diff(pts_ns)
    intervals = intervals[intervals > 0]
    if not len(intervals):
        return 1.0
    # A middle interval and not a mean of two: there is always one of about that length.
    median = int(np.sort(intervals)[len(intervals) // 2])
    usual = intervals[(4 * intervals >= 3 * median) & (4 * intervals <= 5 * median)]
    return max(SLOWEST_FPS, round(len(usual) * NS / int(usual.sum()), 2))
