"""Which physical keys and mouse buttons mean which control, and how mouse counts become camera controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..controls import KEYS14, MINECRAFT, Vocabulary, vocabulary_of
from ..errors import UserError
from ..json_files import read_json

MOUSE_BUTTONS = ("left", "right", "middle", "x1", "x2")
"""Button names of OWAMcap, in the order of Windows' RI_MOUSE_* flag pairs (down = 1 << 2i, up = 2 << 2i)."""

VIRTUAL_KEYS: dict[str, int] = {
    **{chr(code): code for code in range(ord("A"), ord("Z") + 1)},
    **{str(digit): ord(str(digit)) for digit in range(10)},
    **{f"F{number}": 0x6F + number for number in range(1, 13)},
    **{"Backspace": 0x08, "Tab": 0x09, "Enter": 0x0D, "Shift": 0x10, "Ctrl": 0x11, "Alt": 0x12},
    **{
        "CapsLock": 0x14,
        "Escape": 0x1B,
        "Space": 0x20,
        "Left": 0x25,
        "Up": 0x26,
        "Right": 0x27,
        "Down": 0x28,
    },
    **{"LShift": 0xA0, "RShift": 0xA1, "LCtrl": 0xA2, "RCtrl": 0xA3, "LAlt": 0xA4, "RAlt": 0xA5},
}
"""Windows virtual-key codes by the name used in key maps."""

_MOUSE_INPUTS = {f"Mouse{name.capitalize()}": index for index, name in enumerate(MOUSE_BUTTONS)}
_MOTION = {"Turn_L": "-x", "Turn_R": "+x", "Look_U": "-y", "Look_D": "+y", "yaw": "+x", "pitch": "+y"}

Pair = tuple[tuple[str, ...], tuple[str, ...]]
"""Inputs for less, and inputs for more."""


@dataclass(frozen=True)
class KeyMap:
    """Bindings of one game.

    `bindings` maps a binary control to the inputs any of which presses it (`W`, `LShift`, `MouseLeft`...);
    the first one is what a writer emits. Camera controls come from mouse motion and are not listed.
    """

    vocabulary: Vocabulary
    bindings: Mapping[str, tuple[str, ...]]
    threshold_px: int = 3
    """Turn/Look are pressed where a frame's motion is strictly more than this."""
    degrees_per_count: float = 360 / 2400
    """Camera degrees of one mouse count, for vocabularies with continuous camera controls."""
    pairs: Mapping[str, Pair] = field(default_factory=dict)
    """Other continuous controls: the inputs for less and for more. People play with them; OWAMcap has none."""
    moved: Mapping[str, float] = field(default_factory=dict)
    """How far such an input moves its control in a raw step; 1 where nothing is said."""

    def __post_init__(self) -> None:
        for control, (less, more) in self.pairs.items():
            self.vocabulary.index(control)
            for name in (*less, *more):
                if name not in VIRTUAL_KEYS and name not in _MOUSE_INPUTS:
                    raise UserError(f"key map: unknown input {name!r} for {control!r} (use W, Left, MouseLeft...)")
        for control, inputs in self.bindings.items():
            if control in _MOTION:
                raise UserError(f"key map: {control!r} comes from mouse motion and cannot be bound to a key")
            self.vocabulary.index(control)
            for name in inputs:
                if name not in VIRTUAL_KEYS and name not in _MOUSE_INPUTS:
                    raise UserError(
                        f"key map: unknown input {name!r} for {control!r} (use W, LShift, MouseLeft...)"
                    )

    @cached_property
    def keys(self) -> dict[int, tuple[int, ...]]:
        """Virtual-key code -> indices of the controls it presses."""
        return self._inverse(VIRTUAL_KEYS)

    @cached_property
    def buttons(self) -> dict[int, tuple[int, ...]]:
        """Mouse button index -> indices of the controls it presses."""
        return self._inverse(_MOUSE_INPUTS)

    @cached_property
    def motion(self) -> dict[int, str]:
        """Index of a camera control -> the signed axis it follows (`+x` is right, `+y` is down)."""
        return {i: _MOTION[name] for i, name in enumerate(self.vocabulary.names) if name in _MOTION}

    @cached_property
    def first_input(self) -> dict[int, tuple[bool, int]]:
        """Index of a binary control -> (is it a mouse button?, code) of its first input."""
        first = {
            self.vocabulary.index(control): inputs[0] for control, inputs in self.bindings.items() if inputs
        }
        return {
            index: (True, _MOUSE_INPUTS[name]) if name in _MOUSE_INPUTS else (False, VIRTUAL_KEYS[name])
            for index, name in first.items()
        }

    def _inverse(self, codes: Mapping[str, int]) -> dict[int, tuple[int, ...]]:
        inverse: dict[int, list[int]] = {}
        for control, inputs in self.bindings.items():
            for name in inputs:
                if name in codes:
                    inverse.setdefault(codes[name], []).append(self.vocabulary.index(control))
        return {code: tuple(indices) for code, indices in inverse.items()}

    def to_json(self) -> dict[str, object]:
        return {
            "vocabulary": self.vocabulary.spelling,
            "bindings": {control: list(inputs) for control, inputs in self.bindings.items()},
            "threshold_px": self.threshold_px,
            "degrees_per_count": self.degrees_per_count,
        }

    @classmethod
    def from_json(cls, fields: Any, source: str) -> KeyMap:
        """The inverse of `to_json`; `source` is named when the fields are not a key map."""
        try:
            return cls(
                vocabulary_of(fields["vocabulary"]),
                {control: tuple(inputs) for control, inputs in fields["bindings"].items()},
                int(fields.get("threshold_px", 3)),
                float(fields.get("degrees_per_count", 360 / 2400)),
            )
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise UserError(
                f"{source}: not a key map ({error!r}); see docs/cleaning.md for the form"
            ) from None

    @classmethod
    def from_file(cls, path: Path) -> KeyMap:
        try:
            return cls.from_json(read_json(path), str(path))
        except (OSError, ValueError) as error:
            raise UserError(f"{path}: cannot be read as a JSON key map ({error})") from None


_LEFT_AND_RIGHT = {"Shift": ("LShift", "Shift", "RShift"), "Ctrl": ("LCtrl", "Ctrl", "RCtrl")}

SHOOTER_KEYS = KeyMap(
    KEYS14,
    {
        **{key: (key,) for key in "WASD"},
        **_LEFT_AND_RIGHT,
        "Fire": ("MouseLeft",),
        "Aim": ("MouseRight",),
        "Reload": ("R",),
        "Jump": ("Space",),
    },
)
"""The usual layout of first-person shooters, and what this project's own games are recorded with."""

MINECRAFT_KEYS = KeyMap(
    MINECRAFT,
    {
        "attack": ("MouseLeft",),
        "use": ("MouseRight",),
        "forward": ("W",),
        "back": ("S",),
        "left": ("A",),
        "right": ("D",),
        "jump": ("Space",),
        "sneak": _LEFT_AND_RIGHT["Shift"],
        "sprint": _LEFT_AND_RIGHT["Ctrl"],
        **{f"hotbar.{slot}": (str(slot),) for slot in range(1, 10)},
        "inventory": ("E",),
        "drop": ("Q",),
    },
)
"""Minecraft's own default bindings, for the Minecraft vocabulary."""

DEFAULT_KEYS = {key_map.vocabulary.name: key_map for key_map in (SHOOTER_KEYS, MINECRAFT_KEYS)}


def keys_of(vocabulary: Vocabulary) -> KeyMap:
    """The key map with which recordings of a vocabulary are written as OWAMcap."""
    if vocabulary.name not in DEFAULT_KEYS:
        known = ", ".join(DEFAULT_KEYS)
        raise UserError(f"OWAMcap is written of keys and mouse ({known}), not of {vocabulary.spelling!r}")
    return DEFAULT_KEYS[vocabulary.name]
