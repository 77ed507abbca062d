"""A captured window at a fixed frame rate: for each output frame the captured one that shows its tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...controls import KEYS14
from ...formats.replay import Capture, Replay, Window
from .alignment import Alignment
from .controls import frame_controls
from .picture import game_part
from .windows import tick_rate_of

TOLERANCE = {"counted": 0.5, "marker": 0.5, "fitted": 1.0}
"""Ticks between an output frame and the captured one that stands for it, by the method of alignment."""


@dataclass(frozen=True)
class Rows:
    """One entry per output frame."""

    source: NDArray[np.int64]
    """Index of the captured frame."""
    tick: NDArray[np.int64]
    """The tick that the frame is to show, and does where it is valid."""
    residual: NDArray[np.float32]
    valid: NDArray[np.bool_]
    repeated: NDArray[np.bool_]
    """Shows the same captured frame as the row before."""
    action: NDArray[np.float32]
    known: NDArray[np.bool_]
    """Does the demo say what was pressed?"""

    def __len__(self) -> int:
        return len(self.tick)


def make_rows(capture: Capture, alignment: Alignment, replay: Replay, window: Window, fps: float) -> Rows:
    step = tick_rate_of(replay) / fps
    count = int((window.end - window.start) / step + 1e-9) + 1
    wanted = window.start + step * np.arange(count)
    tick = np.floor(wanted + 1e-6).astype(np.int64)
    usable = np.flatnonzero(alignment.valid)
    source = np.zeros(count, np.int64)
    off = np.full(count, np.inf)
    if len(usable):
        shown = alignment.tick[usable]
        order = np.argsort(
            shown, kind="stable"
        )  # of equal ticks the first frame, which is nearest to the tick's begin
        usable, shown = usable[order], shown[order]
        right = np.clip(np.searchsorted(shown, tick), 0, len(shown) - 1)
        left = np.searchsorted(shown, shown[np.maximum(right - 1, 0)])
        nearer = np.abs(shown[left] - tick) < np.abs(shown[right] - tick)
        chosen = np.where(nearer, left, right)
        source, off = usable[chosen], np.abs(shown[chosen] - tick).astype(float)
    action, known = frame_controls(replay.tracks[window.slot], tick, step)
    if capture.action is not None:
        action, known = capture.action[source], np.ones(count, bool)
    repeated = np.zeros(count, bool)
    repeated[1:] = source[1:] == source[:-1]
    valid = off <= TOLERANCE[alignment.method]
    residual = np.where(valid, alignment.residual[source] if len(usable) else np.nan, np.nan)
    return Rows(source, tick, residual.astype(np.float32), valid, repeated, action, known)


def pictures(capture: Capture, rows: Rows, size: tuple[int, int]) -> NDArray[np.uint8]:
    """(n, height, width, 3) of the rows' captured frames, without the marker and resized."""
    import cv2

    height, width = size
    out = np.zeros((len(rows), height, width, 3), np.uint8)
    for index, source in enumerate(rows.source):
        picture = game_part(capture.frames[int(source)], capture.strip_rows)
        if picture.shape[:2] != size:
            picture = np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
        out[index] = picture
    return out


def table(rows: Rows, replay: Replay, window: Window, fps: float) -> list[dict[str, Any]]:
    """The frame table: tick, states and events of each output frame."""
    track = replay.tracks[window.slot]
    at = np.clip(np.searchsorted(track.tick, rows.tick, side="right") - 1, 0, None)
    events = [one for one in replay.events if one.slot == window.slot]
    lines = []
    for index, tick in enumerate(rows.tick.tolist()):
        until = rows.tick[index + 1] if index + 1 < len(rows) else tick + 1
        lines.append(
            {
                "frame": index,
                "time_s": round(index / fps, 6),
                "tick": tick,
                "valid": bool(rows.valid[index]),
                "repeated": bool(rows.repeated[index]),
                "residual": None if np.isnan(rows.residual[index]) else round(float(rows.residual[index]), 3),
                "alive": bool(track.alive[at[index]]),
                "yaw": round(float(track.yaw[at[index]]), 4),
                "pitch": round(float(track.pitch[at[index]]), 4),
                "controls": list(KEYS14.pressed(rows.action[index])) if rows.known[index] else None,
                "events": [
                    {"name": one.name, "tick": one.tick, "other": one.other, "text": one.text}
                    for one in events
                    if tick <= one.tick < until
                ],
            }
        )
    return lines
