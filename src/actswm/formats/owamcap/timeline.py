"""Gives each video frame the inputs of its time: from the frame up to the next one.

A key counts as pressed in a frame if it is down at the frame's time or goes down before the next frame; motion
is the sum over the same span. State messages correct what events missed: a key absent from a state is up from
then on, one present is down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..keymap import KeyMap
from .recording import InputLog, Kind

_END_OF_TIME = np.iinfo(np.int64).max


@dataclass(frozen=True)
class FrameSpans:
    """Half-open spans [start, end) of log time, one per frame, ascending and disjoint."""

    start_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]

    @classmethod
    def of_frames(cls, time_ns: NDArray[np.int64], longest_ns: int) -> FrameSpans:
        """A frame lasts until the next, but no longer than `longest_ns` (across a gap nothing is known)."""
        following = np.append(time_ns[1:], time_ns[-1:] + longest_ns)
        return cls(time_ns, np.minimum(following, time_ns + longest_ns))

    def frame_at(self, time_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The frame whose span holds each time, or -1."""
        index = np.searchsorted(self.start_ns, time_ns, side="right") - 1
        inside = (index >= 0) & (time_ns < self.end_ns[np.maximum(index, 0)])
        return np.where(inside, index, -1)

    def touching(self, start_ns: int, end_ns: int) -> slice:
        """Frames whose span shares a moment with [start, end)."""
        first = int(np.searchsorted(self.end_ns, start_ns, side="right"))
        return slice(first, max(first, int(np.searchsorted(self.start_ns, end_ns, side="left"))))


def actions_of_frames(log: InputLog, spans: FrameSpans, key_map: KeyMap) -> NDArray[np.float32]:
    """(frames, controls): the projection of the input log onto the vocabulary."""
    vocabulary = key_map.vocabulary
    action = np.zeros((len(spans.start_ns), vocabulary.size), np.float32)
    keys = held_spans(log, Kind.KEY_DOWN, Kind.KEY_UP, Kind.KEY_STATE)
    buttons = held_spans(log, Kind.BUTTON_DOWN, Kind.BUTTON_UP, Kind.BUTTON_STATE)
    for held, controls_of in ((keys, key_map.keys), (buttons, key_map.buttons)):
        for code, start_ns, end_ns in held:
            for control in controls_of.get(code, ()):
                action[spans.touching(start_ns, end_ns), control] = 1
    motion = dict(zip("xy", motion_of_frames(log, spans)))
    for control, direction in key_map.motion.items():
        counts = motion[direction[1]] if direction[0] == "+" else -motion[direction[1]]
        if vocabulary.binary[control]:
            action[:, control] = counts > key_map.threshold_px
        else:
            action[:, control] = counts * key_map.degrees_per_count
    return action


def motion_of_frames(log: InputLog, spans: FrameSpans) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Mouse motion in px, right and down: raw counts where there are any, else the cursor's movement."""
    raw = log.kind == Kind.RAW_MOTION
    if raw.any():
        time_ns, moves = log.time_ns[raw], (log.x[raw], log.y[raw])
    else:
        cursor = log.kind == Kind.CURSOR
        time_ns = log.time_ns[cursor][1:]
        moves = (np.diff(log.x[cursor]), np.diff(log.y[cursor]))
    frame = spans.frame_at(time_ns)
    totals = []
    for move in moves:
        total = np.zeros(len(spans.start_ns), np.int64)
        np.add.at(total, frame[frame >= 0], move[frame >= 0])
        totals.append(total)
    return totals[0], totals[1]


def held_spans(log: InputLog, down: Kind, up: Kind, state: Kind) -> Iterator[tuple[int, int, int]]:
    """(code, from, to) for each time that a key or button was held; `to` is the end of time if never let go."""
    held: dict[int, int] = {}
    relevant = np.flatnonzero((log.kind == down) | (log.kind == up) | (log.kind == state))
    for index in relevant.tolist():
        time_ns, kind, code = int(log.time_ns[index]), log.kind[index], int(log.code[index])
        if kind == down:
            held.setdefault(code, time_ns)
        elif kind == up:
            if code in held:
                yield code, held.pop(code), time_ns
        else:
            for missing in held.keys() - log.states[code]:
                yield missing, held.pop(missing), time_ns
            for present in log.states[code] - held.keys():
                held[present] = time_ns
    for code, start_ns in held.items():
        yield code, start_ns, int(_END_OF_TIME)
