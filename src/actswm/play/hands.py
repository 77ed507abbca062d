"""What the person's hands do right now, as raw actions: the page reports, the game asks once every raw step."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..formats.keymap import KeyMap
from .bindings import browser_bindings, opposite

PIXELS_A_TURN = 24.0
"""Mouse pixels that are worth one raw step of a pressed Turn or Look."""
TURNS_AHEAD = 3
"""At most so many steps of a pressed Turn may be owed to the mouse: the view stops when the hand does."""
KEY_PIXELS = 30.0
"""Mouse pixels a raw step that an arrow key is worth where the camera is continuous."""


@dataclass(frozen=True)
class Report:
    """What a page tells: the bound inputs (controls and camera axes) that are down, those that went down since the
    last report (and may be up again), and the mouse's way since then in pixels."""

    held: frozenset[str]
    tapped: frozenset[str] = frozenset()
    dx: float = 0.0
    dy: float = 0.0


class Hands:
    """Only `effective` controls (A,) ever move: others would say in the recording that something was done.

    `recent` raw steps of mouse motion are remembered for `holding`. Safe to use from several threads.
    """

    def __init__(self, key_map: KeyMap, effective: NDArray[np.bool_], recent: int = 4) -> None:
        self._vocabulary, self._binary = key_map.vocabulary, key_map.vocabulary.binary
        self._motion, self._degrees = key_map.motion, key_map.degrees_per_count
        self._effective = effective
        self._known = frozenset(browser_bindings(key_map))
        self._lock = threading.Lock()
        self._mouse: deque[NDArray[np.float32]] = deque(maxlen=recent)
        self.release()

    def release(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._held: frozenset[str] = frozenset()
            self._tapped: frozenset[str] = frozenset()
            self._way = {"x": 0.0, "y": 0.0}
            self._mouse.extend([self._vocabulary.noop()] * (self._mouse.maxlen or 0))

    def report(self, report: Report) -> None:
        unknown = (report.held | report.tapped) - self._known
        if unknown:
            raise UserError(f"unknown input {sorted(unknown)[0]!r}")
        with self._lock:
            self._held = report.held
            self._tapped |= report.tapped
            self._way["x"] += report.dx
            self._way["y"] += report.dy

    def take(self) -> NDArray[np.float32]:
        """The action of the next raw step. A key that was tapped in between is down for one step."""
        with self._lock:
            keys = self._keys(self._held | self._tapped)
            self._tapped = frozenset()
            self._mouse.append(self._mouse_step())
            return self._together(keys, self._mouse[-1])

    def holding(self) -> NDArray[np.float32]:
        """The next `recent` raw actions (recent, A) if nothing changes: keys stay down, the mouse repeats itself."""
        with self._lock:
            return np.stack([self._together(self._keys(self._held), mouse) for mouse in self._mouse])

    def _keys(self, inputs: Iterable[str]) -> NDArray[np.float32]:
        action = self._vocabulary.action(name for name in inputs if name in self._vocabulary.names)
        for index, axis in self._motion.items():
            if self._binary[index]:
                action[index] = axis in inputs
            else:
                action[index] = KEY_PIXELS * self._degrees * ((axis in inputs) - (opposite(axis) in inputs))
        return action

    def _mouse_step(self) -> NDArray[np.float32]:
        """Work off the mouse's way: all of it by degrees, or in whole steps of a pressed Turn or Look."""
        action = self._vocabulary.noop()
        for index, signed_axis in self._motion.items():
            direction, axis = (1.0 if signed_axis[0] == "+" else -1.0), signed_axis[1]
            way = direction * self._way[axis]
            if not self._binary[index]:
                action[index], way = way * self._degrees, 0.0
            elif way > PIXELS_A_TURN / 2:
                action[index] = 1.0
                way = min(way - PIXELS_A_TURN, TURNS_AHEAD * PIXELS_A_TURN)
            self._way[axis] = direction * way
        return action

    def _together(self, keys: NDArray[np.float32], mouse: NDArray[np.float32]) -> NDArray[np.float32]:
        action = np.where(self._binary, np.maximum(keys, mouse), keys + mouse)
        return (action * self._effective).astype(np.float32)
