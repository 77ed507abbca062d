"""VPT contractor recordings: a video and one JSON line a frame, with the quirks of the published data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ..controls import MINECRAFT
from ..errors import UserError
from .complaint import complaint

DEGREES_PER_PIXEL = 360 / 2400
_KEYS = {
    "key.keyboard.w": "forward",
    "key.keyboard.s": "back",
    "key.keyboard.a": "left",
    "key.keyboard.d": "right",
    "key.keyboard.space": "jump",
    "key.keyboard.left.shift": "sneak",
    "key.keyboard.left.control": "sprint",
    "key.keyboard.e": "inventory",
    "key.keyboard.q": "drop",
    **{f"key.keyboard.{slot}": f"hotbar.{slot}" for slot in range(1, 10)},
}
_SLOTS = 9
_FARTHEST_PX = 1e6
_MOST_COMPLAINTS = 5
_BUTTONS = {0: "attack", 1: "use"}


@dataclass(frozen=True)
class VptLog:
    """Per frame: the action over the Minecraft vocabulary, whether a window was open, whether the line decoded."""

    action: NDArray[np.float32]
    gui_open: NDArray[np.bool_]
    readable: NDArray[np.bool_]
    unreadable: dict[str, int]
    """What was wrong with lines that did not decode, and how often."""


def video_of(jsonl: Path) -> Path:
    video = jsonl.with_suffix(".mp4")
    if not video.is_file():
        raise UserError(f"{jsonl}: its video {video.name!r} is missing; put it beside the actions")
    return video


def read_vpt(jsonl: Path) -> VptLog:
    """Read the actions of `<stem>.jsonl`.

    - An attack that is down in the first line stays down in the log until it is next pressed: it is stripped.
    - A hotbar change by the scroll wheel leaves no key: it is derived from the selected slot, where that is known.
    - Camera degrees are kept as floats; camera motion while a window is open moves the cursor and is left out.
    """
    actions, gui_open, readable = [], [], []
    unreadable: Counter[str] = Counter()
    attack_stuck, last_slot = False, 0
    with jsonl.open("rb") as file:
        for index, line in enumerate(file):
            action = MINECRAFT.noop()
            try:
                step = orjson.loads(line)
                pressed = step["mouse"]["newButtons"]
                attack_stuck = pressed == [0] if index == 0 else attack_stuck and 0 not in pressed
                open_, slot = bool(step["isGuiOpen"]), _slot(step)
                known = last_slot if slot is None else slot
                action = _action(step, attack_stuck, open_, known if known != last_slot else None)
                last_slot, decoded = known, True
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
                unreadable[complaint(error)] += 1
                open_, decoded = False, False
            actions.append(action)
            gui_open.append(open_)
            readable.append(decoded)
    if not actions:
        raise UserError(f"{jsonl}: the file is empty; download it again")
    common = dict(unreadable.most_common(_MOST_COMPLAINTS))
    return VptLog(np.stack(actions), np.array(gui_open), np.array(readable), common)


def _slot(step: dict[str, Any]) -> int | None:
    """The selected slot, from 0; None where the recorder did not tell (before its version 6.11)."""
    if step.get("hotbar") is None:
        return None
    slot = int(step["hotbar"])
    if not 0 <= slot < _SLOTS:
        raise ValueError(f"hotbar is {slot}, not 0 to {_SLOTS - 1}")
    return slot


def _action(
    step: dict[str, Any], attack_stuck: bool, gui_open: bool, new_slot: int | None
) -> NDArray[np.float32]:
    mouse = step["mouse"]
    names = {_KEYS[key] for key in step["keyboard"]["keys"] if key in _KEYS}
    names |= {_BUTTONS[button] for button in mouse["buttons"] if button in _BUTTONS}
    if attack_stuck:
        names.discard("attack")
    if new_slot is not None:
        names.add(f"hotbar.{new_slot + 1}")
    dx, dy = (0.0, 0.0) if gui_open else (float(mouse["dx"]), float(mouse["dy"]))
    if not max(abs(dx), abs(dy)) < _FARTHEST_PX:
        raise ValueError(f"the mouse moves by {dx:g}, {dy:g} px in a frame")
    return MINECRAFT.action(names, {"pitch": dy * DEGREES_PER_PIXEL, "yaw": dx * DEGREES_PER_PIXEL})
