"""What a training run tells of the model that it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..origin import UNKNOWN, Origin
from .form import Count


@dataclass(frozen=True)
class TrainingData:
    file: str
    source: str
    frames: Count | None = None
    episodes: Count | None = None
    fps: float | None = None
    frame_size: tuple[int, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Provenance:
    """`steps` is None while a run has not finished, and everything is where a model comes from elsewhere."""

    data: TrainingData | None = None
    steps: Count | None = None
    validation: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    origin: Origin = UNKNOWN
