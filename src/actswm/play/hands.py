"""What the person's hands do right now, as raw actions: the page reports, the game asks once every raw step."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..formats.keymap import KeyMap
from .bindings import browser_bindings, opposite

PIXELS_A_TURN = 24.0
"""Mouse pixels that one raw step of a pressed Turn or Look is taken to be worth until the game was seen turning."""
MOST_OWED = 300.0
"""Pixels that may be owed to the mouse where the game turns slower: the view stops soon after the hand does."""
ANGLES = {"x": "yaw", "y": "pitch"}
"""The telemetry, in degrees, that tells how far the view went along an axis of the mouse."""
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
        self._pairs = {
            key_map.vocabulary.index(control): (control, key_map.moved.get(control, 1.0)) for control in key_map.pairs
        }
        self._effective = effective
        self._known = frozenset(browser_bindings(key_map))
        self._lock = threading.Lock()
        self._mouse: deque[NDArray[np.float32]] = deque(maxlen=recent)
        self._turns = {axis: _Turn() for axis in ANGLES}
        self.release()

    def release(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._held: frozenset[str] = frozenset()
            self._tapped: frozenset[str] = frozenset()
            self._way = {"x": 0.0, "y": 0.0}
            self._mouse.extend([self._vocabulary.noop()] * (self._mouse.maxlen or 0))
            for turn in self._turns.values():
                turn.press(0.0)

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

    def begin(self, telemetry: Mapping[str, float]) -> None:
        """An episode's first view: no action led to it."""
        with self._lock:
            for turn in self._turns.values():
                turn.press(0.0)
        self.saw(telemetry)

    def saw(self, telemetry: Mapping[str, float]) -> None:
        """What the last action led to: a game may turn slowly at first and faster once Turn is held for a while."""
        with self._lock:
            for axis, turn in self._turns.items():
                self._way[axis] += turn.saw(telemetry.get(ANGLES[axis], np.nan), self._degrees)

    def holding(self) -> NDArray[np.float32]:
        """The next `recent` raw actions (recent, A) if nothing changes: keys stay down, the mouse repeats itself."""
        with self._lock:
            return np.stack([self._together(self._keys(self._held), mouse) for mouse in self._mouse])

    def _keys(self, inputs: Iterable[str]) -> NDArray[np.float32]:
        action = self._vocabulary.action(name for name in inputs if name in self._vocabulary.names)
        for index, (control, moved) in self._pairs.items():
            action[index] = moved * ((f"+{control}" in inputs) - (f"-{control}" in inputs))
        for index, axis in self._motion.items():
            if self._binary[index]:
                action[index] = axis in inputs
            else:
                action[index] = KEY_PIXELS * self._degrees * ((axis in inputs) - (opposite(axis) in inputs))
        return action

    def _mouse_step(self) -> NDArray[np.float32]:
        """Work off the mouse's way: all of it by degrees, or in whole steps of a pressed Turn or Look."""
        action = self._vocabulary.noop()
        pressed = dict.fromkeys(ANGLES, 0.0)
        for index, signed_axis in self._motion.items():
            direction, axis = (1.0 if signed_axis[0] == "+" else -1.0), signed_axis[1]
            if not self._binary[index]:
                action[index], self._way[axis] = direction * self._way[axis] * self._degrees, 0.0
            elif direction * self._way[axis] > self._turns[axis].next(direction) / 2:
                action[index], pressed[axis] = 1.0, direction
        for axis, direction in pressed.items():
            way = self._way[axis] - self._turns[axis].press(direction)
            self._way[axis] = float(np.clip(way, -MOST_OWED, MOST_OWED))
        return action

    def _together(self, keys: NDArray[np.float32], mouse: NDArray[np.float32]) -> NDArray[np.float32]:
        action = np.where(self._binary, np.maximum(keys, mouse), keys + mouse)
        return (action * self._effective).astype(np.float32)


class _Turn:
    """How far the view goes, in pixels of the mouse, in the first, second, ... raw step of a pressed Turn."""

    def __init__(self) -> None:
        self._seen: list[float] = []
        self._direction, self._held = 0.0, 0
        self._angle = np.nan

    def next(self, direction: float) -> float:
        """What the next raw step is worth if Turn is pressed in it."""
        held = self._held if direction == self._direction else 0
        return self._seen[min(held, len(self._seen) - 1)] if self._seen else PIXELS_A_TURN

    def press(self, direction: float) -> float:
        """Turn is pressed (1, -1) or not (0); returns the signed way that is worth."""
        worth = direction * self.next(direction) if direction else 0.0
        self._held = self._held + 1 if direction and direction == self._direction else int(direction != 0)
        self._direction = direction
        return worth

    def saw(self, angle: float, degrees: float) -> float:
        """The view's angle after the step; returns the signed way by which the step was worth less than expected."""
        before, self._angle = self._angle, angle
        turned = abs((angle - before + 180) % 360 - 180) / degrees
        step = self._held - 1
        if step < 0 or not turned > 0 or step > len(self._seen):
            return 0.0
        expected = self._seen[min(step, len(self._seen) - 1)] if self._seen else PIXELS_A_TURN
        self._seen[step : step + 1] = [turned]
        return self._direction * (expected - turned)
