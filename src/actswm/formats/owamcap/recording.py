"""Reads the MCAP half of a recording into columns: what was pressed, moved and captured, and when.

Messages are read as plain JSON, so every schema version opens: `media_ref{uri, pts_ns}` or, before 0.5,
`path` and `pts`. All times are integer nanoseconds.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np
import orjson
from mcap.records import Channel, Message, Metadata
from mcap.stream_reader import StreamReader
from numpy.typing import NDArray

from ...errors import UserError
from ..complaint import complaint
from ..keymap import MOUSE_BUTTONS, KeyMap
from . import messages
from .clock import ClockOffset, clock_offset

_FAR_FUTURE = 2**63
_MOST_COMPLAINTS = 5


class Kind(IntEnum):
    """What a row of the input log says."""

    KEY_DOWN, KEY_UP, BUTTON_DOWN, BUTTON_UP, KEY_STATE, BUTTON_STATE = range(6)
    RAW_MOTION, CURSOR, KEYBOARD_UNREADABLE, MOUSE_UNREADABLE = range(6, 10)


@dataclass(frozen=True)
class InputLog:
    """Input events in order of time. `code` is a virtual key, a button, or an index into `states`."""

    time_ns: NDArray[np.int64]
    kind: NDArray[np.uint8]
    code: NDArray[np.int32]
    x: NDArray[np.int32]
    y: NDArray[np.int32]
    states: tuple[frozenset[int], ...]
    backwards: tuple[tuple[int, int], ...]
    """Spans over which a stream's clock ran backwards: from the late event's time to the time it fell behind."""


@dataclass(frozen=True)
class Recording:
    """One OWAMcap recording; `video_ns = log_ns - offset_ns`."""

    path: Path
    video_path: Path
    inputs: InputLog
    screen_log_ns: NDArray[np.int64]
    screen_pts_ns: NDArray[np.int64]
    death_ns: NDArray[np.int64]
    """Log times of the player's deaths, where the source has such records."""
    key_map: KeyMap | None
    """The key map that this project's own writer left in the file."""
    unreadable: dict[str, int] = field(default_factory=dict)
    """What was wrong with messages that did not decode, and how often; the most frequent alone."""

    @cached_property
    def clock(self) -> ClockOffset:
        return clock_offset(self.screen_log_ns, self.screen_pts_ns)

    @property
    def offset_ns(self) -> int:
        return self.clock.offset_ns


def read_recording(path: Path) -> Recording:
    """Read `<stem>.mcap` and find its video beside it."""
    if not path.is_file():
        raise UserError(f"{path}: no such recording")
    size = path.stat().st_size
    if size == 0:
        raise UserError(f"{path}: the file is empty; copy the recording again")
    columns = _Columns()
    key_map: KeyMap | None = None
    topics: dict[int, str] = {}
    try:
        with path.open("rb") as file:
            # In file order and one chunk at a time: a seeking reader holds an index of every message.
            for record in StreamReader(file, validate_crcs=True, record_size_limit=size).records:
                if isinstance(record, Message):
                    columns.take(topics[record.channel_id], record.log_time, record.data)
                elif isinstance(record, Channel):
                    topics[record.id] = record.topic
                elif isinstance(record, Metadata) and record.name == messages.METADATA:
                    key_map = KeyMap.from_json(orjson.loads(record.metadata["key_map"]), str(path))
    except UserError:
        raise
    except Exception as error:  # the MCAP reader raises anything at all on damaged bytes
        raise UserError(
            f"{path}: not a complete MCAP file ({type(error).__name__}); it is truncated or damaged, copy it again"
        ) from None
    if not columns.screen_pts:
        raise UserError(f"{path}: has no `screen` messages that point to a video; it cannot be aligned")
    return Recording(
        path,
        _video_beside(path, columns.uris),
        columns.log(),
        np.array(columns.screen_log, np.int64),
        np.array(columns.screen_pts, np.int64),
        np.array(sorted(columns.deaths + _deaths_beside(path)), np.int64),
        key_map,
        dict(columns.unreadable.most_common(_MOST_COMPLAINTS)),
    )


@dataclass
class _Columns:
    """Collects messages in file order."""

    rows: tuple[array[int], ...] = field(default_factory=lambda: tuple(array(code) for code in "qBiii"))
    states: dict[frozenset[int], int] = field(default_factory=dict)
    screen_log: list[int] = field(default_factory=list)
    screen_pts: list[int] = field(default_factory=list)
    uris: set[str] = field(default_factory=set)
    deaths: list[int] = field(default_factory=list)
    latest: dict[str, int] = field(default_factory=dict)
    backwards: list[tuple[int, int]] = field(default_factory=list)
    unreadable: Counter[str] = field(default_factory=Counter)

    def take(self, topic: str, time_ns: int, data: bytes) -> None:
        handler = _HANDLERS.get(topic)
        if handler is None:
            return
        if time_ns >= _FAR_FUTURE:
            raise ValueError("a log time beyond the year 2262")
        latest = self.latest.get(topic, time_ns)
        if time_ns < latest:
            self.backwards.append((time_ns, latest))
        self.latest[topic] = max(latest, time_ns)
        try:
            handler(self, time_ns, orjson.loads(data))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            self.unreadable[f"{topic}: {complaint(error)}"] += 1
            if topic.startswith("keyboard"):
                self.row(time_ns, Kind.KEYBOARD_UNREADABLE)
            elif topic.startswith("mouse"):
                self.row(time_ns, Kind.MOUSE_UNREADABLE)

    def row(self, time_ns: int, kind: Kind, code: int = 0, x: int = 0, y: int = 0) -> None:
        for column, value in zip(self.rows, (time_ns, kind, code, x, y)):
            column.append(value)

    def state(self, members: frozenset[int]) -> int:
        return self.states.setdefault(members, len(self.states))

    def log(self) -> InputLog:
        rows = [np.frombuffer(column, column.typecode) for column in self.rows]
        if (np.diff(rows[0]) < 0).any():
            order = np.argsort(rows[0], kind="stable")
            rows = [row[order] for row in rows]
        time_ns, kind, code, x, y = rows
        return InputLog(time_ns, kind, code, x, y, tuple(self.states), tuple(self.backwards))


def _screen(columns: _Columns, time_ns: int, message: dict[str, Any]) -> None:
    reference = message.get("media_ref")
    uri, pts = (reference["uri"], reference["pts_ns"]) if reference else (message["path"], message["pts"])
    if not isinstance(pts, int) or not 0 <= pts < _FAR_FUTURE:
        raise TypeError("a screen message without a video timestamp")
    if not isinstance(uri, str):
        raise TypeError("a screen message whose video has no name")
    columns.uris.add(uri)
    columns.screen_log.append(time_ns)
    columns.screen_pts.append(pts)


def _keyboard(columns: _Columns, time_ns: int, message: dict[str, Any]) -> None:
    down = {"press": Kind.KEY_DOWN, "release": Kind.KEY_UP}[message["event_type"]]
    columns.row(time_ns, down, _integer(message["vk"]))


def _mouse(columns: _Columns, time_ns: int, message: dict[str, Any]) -> None:
    what = message["event_type"]
    columns.row(time_ns, Kind.CURSOR, 0, _integer(message["x"]), _integer(message["y"]))
    if what == "click":
        kind = Kind.BUTTON_DOWN if message["pressed"] else Kind.BUTTON_UP
        if message["button"] in MOUSE_BUTTONS:
            columns.row(time_ns, kind, MOUSE_BUTTONS.index(message["button"]))
    elif what not in ("move", "scroll"):
        raise ValueError(what)


def _raw_mouse(columns: _Columns, time_ns: int, message: dict[str, Any]) -> None:
    x, y = _integer(message["last_x"]), _integer(message["last_y"])
    if _integer(message.get("us_flags") or 0) & 1 and (x or y):
        raise ValueError("absolute coordinates (a tablet or remote desktop) carry no counts")
    flags = _integer(message.get("button_flags") or 0)
    columns.row(time_ns, Kind.RAW_MOTION, 0, x, y)
    for button in range(len(MOUSE_BUTTONS)):
        if flags >> (2 * button) & 1:
            columns.row(time_ns, Kind.BUTTON_DOWN, button)
        if flags >> (2 * button) & 2:
            columns.row(time_ns, Kind.BUTTON_UP, button)


def _keyboard_state(columns: _Columns, time_ns: int, message: dict[str, Any]) -> None:
    pressed = message["buttons"] if "buttons" in message else message["pressed_vk_list"]
    held = frozenset(_integer(key) for key in pressed)
    columns.row(time_ns, Kind.KEY_STATE, columns.state(held))


def _mouse_state(columns: _Columns, time_ns: int, message: dict[str, Any]) -> None:
    held = frozenset(MOUSE_BUTTONS.index(name) for name in message["buttons"] if name in MOUSE_BUTTONS)
    columns.row(time_ns, Kind.BUTTON_STATE, columns.state(held))


def _event(columns: _Columns, time_ns: int, message: dict[str, Any]) -> None:
    if message["name"] == "death":
        columns.deaths.append(time_ns)


_HANDLERS: dict[str, Callable[[_Columns, int, dict[str, Any]], None]] = {
    messages.SCREEN: _screen,
    messages.KEYBOARD: _keyboard,
    messages.MOUSE: _mouse,
    messages.RAW_MOUSE: _raw_mouse,
    messages.KEYBOARD_STATE: _keyboard_state,
    messages.MOUSE_STATE: _mouse_state,
    messages.EVENT: _event,
}


def _integer(value: Any) -> int:
    if not isinstance(value, int) or not -(2**31) <= value < 2**31:
        raise TypeError(f"{value!r} is not a 32-bit integer")
    return value


def _video_beside(path: Path, uris: set[str]) -> Path:
    """The one video that the screen messages name, which must lie in the recording's own folder."""
    if len(uris) != 1:
        raise UserError(f"{path}: screen messages name {len(uris)} videos, expected one: {sorted(uris)[:3]}")
    [uri] = uris
    try:
        parsed = urlparse(uri)
    except ValueError as error:
        raise UserError(f"{path}: the video's name {uri[:60]!r} cannot be read ({error})") from None
    if parsed.scheme not in ("", "file"):
        raise UserError(f"{path}: the video is {uri[:60]!r}, but only a file beside the recording is read")
    folder = path.parent.resolve()
    name = unquote(parsed.path) if parsed.scheme == "file" else uri
    # By name, not by what links point to: download caches keep recordings as links to a store elsewhere.
    video = Path(os.path.normpath(folder / name))
    if not video.is_relative_to(folder):
        raise UserError(f"{path}: the video path {uri!r} leads out of the recording's folder; refused")
    if not video.is_file():
        raise UserError(f"{path}: its video {name!r} is missing; put it beside the recording")
    return video


def _deaths_beside(path: Path) -> list[int]:
    """Deaths from `<stem>.deaths.json`: a list of log times in nanoseconds, for recorders that know none."""
    sidecar = path.with_suffix(".deaths.json")
    if not sidecar.is_file():
        return []
    try:
        times = orjson.loads(sidecar.read_bytes())
        if not isinstance(times, list) or not all(type(time_ns) is int for time_ns in times):
            raise ValueError("expected a list of integers")
    except ValueError as error:
        raise UserError(f"{sidecar}: {error}; it must list death times in nanoseconds") from None
    return times
