"""What `actswm plan` finds: every episode, and the counts of each method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from ..origin import UNKNOWN, Origin
from .form import LARGEST, Count, Limits, Share


@dataclass(frozen=True)
class EpisodeResult:
    """One episode, as it stands on disk; `identity` says what it depends on."""

    method: str
    task: str
    episode: Count
    succeeded: bool
    chunks: Count
    raw_steps: Count
    choices: tuple[str, ...]
    costs: tuple[float | None, ...]
    plan_cpu_seconds: float
    """Mean over the episode's decisions."""
    attempts: Count
    identity: Mapping[str, Any]


@dataclass(frozen=True)
class MethodResult:
    """Counts over the episodes, `low` and `high` the 95 % Wilson interval of the success rate."""

    method: str
    episodes: Annotated[int, Limits(1, LARGEST)]
    successes: Count
    low: Share
    high: Share
    lost: Count
    """Episodes in which the engine died twice; they count as failures here and are played on the next run."""
    chunks_to_success: float | None
    plan_cpu_seconds: float
    """Mean CPU time of a plan; 0 for what does not plan."""


@dataclass(frozen=True)
class Plan:
    task: str
    methods: tuple[MethodResult, ...]
    origin: Origin = UNKNOWN
