"""What `actswm recover` finds: which actions explain a video, and how far they are those that were pressed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..intervals import NOTHING, Estimate
from ..origin import UNKNOWN, Origin
from .form import Count


@dataclass(frozen=True)
class ControlScore:
    """One binary control. Undefined values (a control that is never or always pressed) are NaN."""

    name: str
    pressed_share: float
    precision: Estimate
    recall: Estimate
    f1: Estimate
    balanced_accuracy: Estimate


@dataclass(frozen=True)
class Scores:
    """The paper's key and active accuracy; balanced accuracy and F1 as means over the controls in use.

    In use are those that the recorded windows both press and leave alone. `camera_error` is the mean absolute
    error of each continuous control, per model step.
    """

    key_accuracy: Estimate
    active_accuracy: Estimate
    balanced_accuracy: Estimate
    f1: Estimate
    controls: tuple[ControlScore, ...]
    camera_error: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True)
class Costs:
    """How much nearer to the target a search comes than random actions; `verdict` says what speaks against it."""

    relative_gap: Estimate
    gap: Estimate = NOTHING
    random_search_gap: Estimate = NOTHING
    mean_cost: float = math.nan
    mean_random_cost: float = math.nan
    mean_gain: float = math.nan
    verdict: str | None = None


@dataclass(frozen=True)
class RecoverOptions:
    target: str
    guide: str
    method: str = "cem"
    joint_window: Count | None = None
    search: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PianoRoll:
    """Lanes of 0 and 1 per control: one window as recorded, and as each method recovered it."""

    window: Count
    recorded: Mapping[str, str]
    recovered: Mapping[str, Mapping[str, str]]

    def __post_init__(self) -> None:
        for method, found in self.recovered.items():
            if set(found) != set(self.recorded):
                raise ValueError(f"the roll of {method} has other controls than were recorded")


@dataclass(frozen=True)
class Weighing:
    """What a world model adds to an inverse-dynamics model's proposal.

    `weights` of the controls in use, chosen on windows that are not those of the table: 0 leaves the proposal as it is.
    `gained`: balanced accuracy of both minus that of the inverse-dynamics model alone, of the same windows, per control
    and of `all`.
    """

    chosen_on: str
    windows: Count
    weights: Mapping[str, float]
    gained: Mapping[str, Estimate]


@dataclass(frozen=True)
class Recover:
    """`costs` are those of methods that search; others have `scores` alone, and with a proposal a `weighing`."""

    data: str
    window_rows: tuple[int, ...]
    options: RecoverOptions
    costs: Mapping[str, Costs | None]
    scores: Mapping[str, Scores]
    roll: PianoRoll | None = None
    weighing: Mapping[str, Weighing] = field(default_factory=dict)
    origin: Origin = UNKNOWN
