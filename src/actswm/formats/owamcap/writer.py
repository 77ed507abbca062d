"""Writes a recording as OWAMcap: input events in MCAP, frames in Matroska, one clock for both."""

from __future__ import annotations

import time
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...controls import Vocabulary
from ...errors import UserError
from ..keymap import MOUSE_BUTTONS, KeyMap, keys_of
from ..video import MS, NS, VideoWriter
from . import messages
from .log import MessageLog

TURN_COUNTS = 20
"""Mouse counts a frame of a pressed Turn or Look: clearly more than the 3 px that readers ask for."""
FINE_DEGREES_PER_COUNT = 0.01
"""Camera degrees are written in hundredths, so that reading them back is exact to 0.005."""
STATE_EVERY_NS = NS


class OwamcapWriter:
    """Frame by frame: `add(frame, action)` says what was seen and what was pressed while it was shown.

    Everything of a frame carries the frame's own time, so that a reader which gives a frame the inputs from
    its time up to the next frame's time gets the action back. `<stem>.mcap` and `<stem>.mkv` appear under
    their names at `close()`; leaving the `with` block by an exception leaves nothing behind.
    """

    def __init__(
        self,
        mcap_path: str | Path,
        *,
        height: int,
        width: int,
        fps: float,
        vocabulary: Vocabulary,
        key_map: KeyMap | None = None,
        start_ns: int | None = None,
    ) -> None:
        self.mcap_path = Path(mcap_path)
        self.video_path = self.mcap_path.with_suffix(".mkv")
        self._partial = {p: p.with_name(f".{p.name}.partial") for p in (self.video_path, self.mcap_path)}
        if key_map is None:
            key_map = keys_of(vocabulary)
            if not vocabulary.binary.all():
                key_map = KeyMap(vocabulary, key_map.bindings, degrees_per_count=FINE_DEGREES_PER_COUNT)
        if key_map.vocabulary != vocabulary:
            names = f"{key_map.vocabulary.name!r}, the recording for {vocabulary.name!r}"
            raise UserError(f"the key map is for {names}")
        self.key_map, self._vocabulary = key_map, vocabulary
        self._shape, self._fps = (height, width), Fraction(fps).limit_denominator(100_000)
        self._start_ns = time.time_ns() if start_ns is None else start_ns
        self._frames, self._gap_ns, self._next_state_ns = 0, 0, 0
        self._held: dict[int, bool] = {}
        self.mcap_path.parent.mkdir(parents=True, exist_ok=True)
        self._video = VideoWriter(self._partial[self.video_path], height=height, width=width, fps=self._fps)
        self._file = self._partial[self.mcap_path].open("wb")
        self._log = MessageLog(self._file, key_map)
        self._open = True

    def add(self, frame_rgb: NDArray[np.uint8], action: NDArray[Any], events: Iterable[str] = ()) -> None:
        """One raw step: the frame, the action taken in it, and names of game events (`death`) in it."""
        if frame_rgb.shape != (*self._shape, 3) or frame_rgb.dtype != np.uint8:
            raise ValueError(f"frame is {frame_rgb.shape} {frame_rgb.dtype}, recording {self._shape} uint8")
        pts_ns = self._pts_ns(self._frames)
        self._video.add(frame_rgb, pts_ns)
        now = self._start_ns + pts_ns
        shape = [self._shape[1], self._shape[0]]
        reference = {"uri": self.video_path.name, "pts_ns": pts_ns}
        screen = {"utc_ns": now, "source_shape": shape, "shape": shape, "media_ref": reference}
        self._log.write(messages.SCREEN, now, screen)
        self._write_inputs(now, np.asarray(action, np.float64))
        for name in events:
            self._log.write(messages.EVENT, now, {"name": name})
        if pts_ns >= self._next_state_ns:
            self._write_state(now)
            self._next_state_ns = pts_ns + STATE_EVERY_NS
        self._frames += 1

    def gap(self, duration_ns: int = NS) -> None:
        """Let time pass without a frame, as between two episodes; cleaning splits there. Lifts all keys."""
        if self._frames:
            now = self._start_ns + self._pts_ns(self._frames)
            self._write_inputs(now, np.zeros(self._vocabulary.size))
        self._gap_ns += duration_ns // MS * MS

    def close(self) -> None:
        """Finish both files and give them their names."""
        if not self._open:
            return
        self._open = False
        self._log.finish()
        self._file.close()
        self._video.close()
        for final, partial in self._partial.items():
            partial.replace(final)

    def abort(self) -> None:
        """Drop what was written."""
        if self._open:
            self._open = False
            self._file.close()
            self._video.close()
            for partial in self._partial.values():
                partial.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close() if kind is None else self.abort()

    def _pts_ns(self, frame: int) -> int:
        milliseconds = Fraction(frame * 1000) / self._fps + Fraction(1, 2)
        return int(milliseconds) * MS + self._gap_ns

    def _write_inputs(self, now: int, action: NDArray[np.float64]) -> None:
        flags = 0
        for index, (is_mouse, code) in self.key_map.first_input.items():
            down = bool(action[index] > 0.5)
            if down == self._held.get(index, False):
                continue
            self._held[index] = down
            if is_mouse:
                flags |= (1 if down else 2) << (2 * code)
            else:
                self._log.write(
                    messages.KEYBOARD, now, {"event_type": "press" if down else "release", "vk": code}
                )
        x, y = self._counts(action, "x"), self._counts(action, "y")
        if x or y or flags:
            raw = {"last_x": x, "last_y": y, "us_flags": 0, "button_flags": flags, "button_data": 0}
            self._log.write(messages.RAW_MOUSE, now, raw)

    def _counts(self, action: NDArray[np.float64], axis: str) -> int:
        total = 0.0
        for index, direction in self.key_map.motion.items():
            if direction[1] == axis:
                scale = TURN_COUNTS if self._vocabulary.binary[index] else 1 / self.key_map.degrees_per_count
                total += action[index] * scale * (1 if direction[0] == "+" else -1)
        return round(total)

    def _write_state(self, now: int) -> None:
        down = [self.key_map.first_input[index] for index, held in self._held.items() if held]
        keys = [code for is_mouse, code in down if not is_mouse]
        buttons = [MOUSE_BUTTONS[code] for is_mouse, code in down if is_mouse]
        height, width = self._shape
        self._log.write(messages.KEYBOARD_STATE, now, {"buttons": keys})
        self._log.write(messages.MOUSE_STATE, now, {"x": width // 2, "y": height // 2, "buttons": buttons})
        window = {"title": "actswm", "rect": [0, 0, width, height], "hWnd": 0}
        self._log.write(messages.WINDOW, now, window)
