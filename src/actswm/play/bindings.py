"""Which keys of a browser mean which control.

They follow the key map of the vocabulary, with two changes that the browser asks for. Ctrl is played with C: Ctrl+W
closes a tab, and no page may prevent it. And the arrow keys move the camera, for whom there is no mouse.
"""

from __future__ import annotations

from ..formats.keymap import KeyMap

CAMERA_KEYS = {"ArrowLeft": "-x", "ArrowRight": "+x", "ArrowUp": "-y", "ArrowDown": "+y"}
"""Browser codes of the keys that do what the mouse does: signed axes, as in `KeyMap.motion`."""
_CODES = {
    **{"Shift": "ShiftLeft", "LShift": "ShiftLeft", "RShift": "ShiftRight"},
    **{"Ctrl": "KeyC", "LCtrl": "KeyC", "RCtrl": "KeyC"},
    **{key: f"Arrow{key}" for key in ("Left", "Right", "Up", "Down")},
    **{"MouseLeft": "Mouse0", "MouseMiddle": "Mouse1", "MouseRight": "Mouse2"},
}


def browser_bindings(key_map: KeyMap) -> dict[str, tuple[str, ...]]:
    """Control, half of a continuous one (`-steer`), or camera axis -> the browser codes any of which presses it.

    Codes are those of KeyboardEvent.code, and Mouse0 to Mouse2.
    """
    bound = {
        control: tuple(dict.fromkeys(_code(name) for name in inputs))
        for control, inputs in key_map.bindings.items()
    }
    for control, (less, more) in key_map.pairs.items():
        bound |= {f"-{control}": tuple(map(_code, less)), f"+{control}": tuple(map(_code, more))}
    if not key_map.motion:  # nothing turns: the arrows are free
        return bound
    return bound | {axis: (code,) for code, axis in CAMERA_KEYS.items()}


def lane_codes(key_map: KeyMap, index: int) -> tuple[str, ...]:
    """The keys that a page names beside the control `index`: one, or one for each direction."""
    bindings = browser_bindings(key_map)
    axis = key_map.motion.get(index)
    if axis is None:
        name = key_map.vocabulary.names[index]
        if name in key_map.pairs:
            return bindings[f"-{name}"][:1] + bindings[f"+{name}"][:1]
        return bindings.get(name, ())[:1]
    both = () if key_map.vocabulary.binary[index] else bindings[opposite(axis)]
    return both + bindings[axis]


def opposite(axis: str) -> str:
    return ("-" if axis[0] == "+" else "+") + axis[1]


def _code(name: str) -> str:
    if len(name) == 1:
        return f"Digit{name}" if name.isdigit() else f"Key{name}"
    return _CODES.get(name, name)
