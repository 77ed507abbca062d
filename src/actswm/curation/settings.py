"""Everything that decides what a cleaning run produces, in one value that travels to every worker."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ..controls import KEYS14, Vocabulary
from ..formats.keymap import KeyMap
from .domains import Domain
from .frames import CutRules
from .judging.service import ServiceSettings
from .prefilter import PrefilterRules

JudgeKind = Literal["embedded", "rules", "none", "online", "batch"]
_RULES_VERSION = 3
"""Raised when the same settings begin to give other results, so that old work is not taken for new."""


@dataclass(frozen=True)
class CleanSettings:
    domain: Domain
    vocabulary: Vocabulary = KEYS14
    key_map: KeyMap | None = None
    """Overrides the recording's own and the domain's."""
    height: int = 128
    width: int = 128
    judge: JudgeKind = "embedded"
    service: ServiceSettings | None = None
    prefilter: PrefilterRules = field(default_factory=PrefilterRules)
    cuts: CutRules = field(default_factory=CutRules)
    compression: str | None = None
    fps: float | None = None
    """Resample recordings to so many steps a second; None keeps the frames as they come."""

    def describe(self) -> dict[str, Any]:
        """What the result depends on, JSON-able; how fast a service is asked does not belong to it."""
        return {
            "version": _RULES_VERSION,
            "domain": self.domain.name,
            "prompt": self.domain.prompt if self.judge in ("online", "batch") else None,
            "vocabulary": self.vocabulary.spelling,
            "key_map": self.key_map.to_json() if self.key_map else None,
            "size": [self.height, self.width],
            "judge": self.judge,
            "model": self.service.model if self.service else None,
            "prefilter": asdict(self.prefilter),
            "cuts": asdict(self.cuts),
            "compression": self.compression,
            "fps": self.fps,
        }

    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.describe(), sort_keys=True).encode()).hexdigest()
