"""What `actswm idm-score` finds: an inverse-dynamics model on a recording that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..origin import UNKNOWN, Origin
from .form import Count
from .recover import Scores


@dataclass(frozen=True)
class ControlReliability:
    """What was promised and what came, in bins of equal width; `error` is the expected calibration error."""

    name: str
    error: float
    count: tuple[Count, ...]
    promised: tuple[float, ...]
    came: tuple[float, ...]


@dataclass(frozen=True)
class IdmScore:
    """Scores of model steps and of raw steps, the raw steps' reliability, and the domain.

    `off_domain_share` is that of the recording's own stretches; `separations` are AUROCs of its stretches against those
    of other videos, `caught` the share of these that lies beyond the limit.
    """

    data: str
    episodes: Count
    steps: Scores
    raw: Scores
    calibration_error: float
    reliability: tuple[ControlReliability, ...]
    off_domain_share: float
    separations: Mapping[str, float] = field(default_factory=dict)
    caught: Mapping[str, float] = field(default_factory=dict)
    origin: Origin = UNKNOWN
