"""Control vocabularies, and the two ways in which raw actions become what the model sees.

A *raw step* is one game tick with one action vector over a vocabulary. A *model step* spans `frameskip`
raw steps. The model is told the action of a step in one of two encodings:

- `block`: the raw actions inside the step, concatenated: (T * frameskip, A) -> (T, frameskip * A);
- `sliding`: each step aggregated to one A-vector (pressed if pressed in any raw step; continuous
  controls summed); the model's input is the last four steps' vectors, oldest first.

`step_actions` gives a step's own action, which is also the readout's target; the model joins the steps of an input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .errors import UserError

EncodingName = Literal["block", "sliding"]
SLIDING_HISTORY = 4
"""Model steps in one `sliding` input (Appendix D's four-step window)."""


@dataclass(frozen=True)
class Control:
    """One named input dimension; continuous ones are in degrees per raw step (an own game's: in its own unit)."""

    name: str
    binary: bool = True


@dataclass(frozen=True)
class Vocabulary:
    """The ordered controls of a game."""

    name: str
    controls: tuple[Control, ...]

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.controls):
            raise ValueError(f"vocabulary {self.name!r} names a control twice: {self.names}")

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(control.name for control in self.controls)

    @cached_property
    def binary(self) -> NDArray[np.bool_]:
        return np.array([control.binary for control in self.controls])

    @property
    def size(self) -> int:
        return len(self.controls)

    @cached_property
    def spelling(self) -> str:
        """The text from which `vocabulary_of` makes this vocabulary again: what files and models keep.

        Ours are known by name. An own one says what it is, with `~` after continuous controls:
        `rover(Forward,Back,steer~)`.
        """
        if VOCABULARIES.get(self.name) == self or re.fullmatch(_BOX, self.name):
            return self.name
        return f"{self.name}({','.join(c.name + '~' * (not c.binary) for c in self.controls)})"

    def index(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            known = ", ".join(self.names)
            raise UserError(f"unknown control {name!r}; vocabulary {self.name!r} has: {known}") from None

    def noop(self) -> NDArray[np.float32]:
        """The all-zero raw action."""
        return np.zeros(self.size, np.float32)

    def action(
        self, pressed: Iterable[str] = (), values: Mapping[str, float] | None = None
    ) -> NDArray[np.float32]:
        """A raw action with `pressed` binary controls down and continuous controls set to `values`."""
        action = self.noop()
        for name in pressed:
            action[self.index(name)] = 1.0
        for name, value in (values or {}).items():
            action[self.index(name)] = value
        return action

    def pressed(self, action: NDArray[np.floating]) -> tuple[str, ...]:
        """Names of the controls that are not at rest in a raw action."""
        return tuple(name for name, value in zip(self.names, action) if value != 0)


KEYS14 = Vocabulary(
    "keys14",
    tuple(
        Control(name)
        for name in "W A S D Shift Ctrl Fire Aim Reload Jump Turn_L Turn_R Look_U Look_D".split()
    ),
)

MINECRAFT = Vocabulary(
    "minecraft",
    tuple(
        Control(name)
        for name in (
            *"attack back forward jump left right sneak sprint use".split(),
            *(f"hotbar.{slot}" for slot in range(1, 10)),
            *"inventory drop".split(),
        )
    )
    + (Control("pitch", binary=False), Control("yaw", binary=False)),
)
"""MineStudio's and VPT's controls: buttons 0/1, camera pitch and yaw in degrees (down and right positive)."""

_BOX = r"box([1-9]\d{0,2})"
_NAME = r"[^\s,~()\x00-\x1f]{1,64}"
"""Of an own vocabulary and its controls."""
VOCABULARIES = {vocabulary.name: vocabulary for vocabulary in (KEYS14, MINECRAFT)}


def vocabulary_of(name: str, control_names: Iterable[str] | None = None) -> Vocabulary:
    """The vocabulary called `name`; `control_names`, where given, must be its controls in order.

    `box<N>` is a nameless space of N continuous controls, for models made elsewhere; own vocabularies come by
    their `spelling`.
    """
    if match := re.fullmatch(_BOX, name):
        vocabulary = Vocabulary(name, tuple(Control(f"a{i}", binary=False) for i in range(int(match[1]))))
    elif name in VOCABULARIES:
        vocabulary = VOCABULARIES[name]
    elif "(" in name:
        vocabulary = _spelled(name)
    else:
        known = f"{', '.join(VOCABULARIES)}, box<N>, or an own one with its controls, such as rover(Forward,steer~)"
        raise UserError(f"unknown vocabulary {name!r}; known: {known}")
    if control_names is not None and tuple(control_names) != vocabulary.names:
        raise UserError(
            f"vocabulary {name!r} has the controls {', '.join(vocabulary.names)}, "
            f"but the file names {', '.join(control_names)}"
        )
    return vocabulary


MOST_CONTROLS = 512


def _spelled(text: str) -> Vocabulary:
    """An own vocabulary from its spelling."""
    match = re.fullmatch(rf"({_NAME})\(((?:{_NAME}~?)(?:,{_NAME}~?)*)\)", text)
    controls = match[2].split(",") if match else []
    if match is None or len(controls) > MOST_CONTROLS:
        raise UserError(
            f"{text[:80]!r} is no vocabulary; spell an own one name(Control,Control,continuous~), without blanks, "
            f"with at most {MOST_CONTROLS} controls"
        )
    if match[1] in VOCABULARIES or re.fullmatch(_BOX, match[1]):
        raise UserError(f"vocabulary {match[1]!r} is known and has its own controls; choose another name")
    try:
        return Vocabulary(match[1], tuple(Control(name.rstrip("~"), not name.endswith("~")) for name in controls))
    except ValueError as error:
        raise UserError(str(error)) from None


@dataclass(frozen=True)
class ActionEncoding:
    """How raw actions of a vocabulary become step actions and model inputs. Saved with every model."""

    vocabulary: Vocabulary
    kind: EncodingName = "block"
    frameskip: int = 4

    def __post_init__(self) -> None:
        if self.kind not in get_args(EncodingName):
            raise UserError(f"unknown action encoding {self.kind!r}; known: block, sliding")
        if self.frameskip < 1:
            raise UserError(f"frameskip must be at least 1, not {self.frameskip}")

    @property
    def step_dim(self) -> int:
        """Size of a step's own action, which the readout must recover."""
        return self.vocabulary.size * (self.frameskip if self.kind == "block" else 1)

    @property
    def input_dim(self) -> int:
        """Size of the action block that the model is fed at each step."""
        return self.vocabulary.size * (self.frameskip if self.kind == "block" else SLIDING_HISTORY)

    @property
    def lead(self) -> int:
        """Earlier steps that an input needs besides its own."""
        return 0 if self.kind == "block" else SLIDING_HISTORY - 1

    def step_actions(self, raw: NDArray[np.floating]) -> NDArray[np.float32]:
        """(..., T * frameskip, A) raw actions -> (..., T, step_dim) step actions."""
        *batch, rows, size = raw.shape
        if rows % self.frameskip or size != self.vocabulary.size:
            fit = f"frameskip {self.frameskip} x {self.vocabulary.size} controls"
            raise ValueError(f"raw actions {raw.shape} do not fit {fit}")
        steps = raw.reshape(*batch, rows // self.frameskip, self.frameskip, size)
        if self.kind == "block":
            return steps.reshape(*batch, -1, self.step_dim).astype(np.float32)
        pressed = (steps > 0.5).any(-2)
        return np.where(self.vocabulary.binary, pressed, steps.sum(-2)).astype(np.float32)

    def raw_actions(self, steps: NDArray[np.floating]) -> NDArray[np.float32]:
        """(..., T, step_dim) step actions -> (..., T * frameskip, A) raw actions that encode to them.

        For `sliding` a binary control is held for the whole step and a continuous one spread evenly.
        """
        *batch, count, _ = steps.shape
        if self.kind == "block":
            return steps.reshape(*batch, count * self.frameskip, self.vocabulary.size).astype(np.float32)
        held = np.where(self.vocabulary.binary, steps, steps / self.frameskip)
        return np.repeat(held, self.frameskip, axis=-2).astype(np.float32)
