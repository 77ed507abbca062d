"""What a run did: per recording and in all, as data that JSON, the table and the page are made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .export import Outcome
from .frames import Drop, Source
from .thumbnails import Thumbnail

_STAGE_1 = (
    Drop.TIMESTAMP_BACKWARDS,
    Drop.TIMESTAMP_DUPLICATE,
    Drop.TIMESTAMP_JUMP,
    Drop.KEYBOARD_UNREADABLE,
    Drop.MOUSE_UNREADABLE,
    Drop.INPUT_SILENT,
    Drop.DEATH,
    Drop.GUI_OPEN,
    Drop.SHORT_SEGMENT,
)
STAGES: Mapping[str, tuple[Drop, ...]] = {
    "1 prefilter": _STAGE_1,
    "2-3 judge": (Drop.NOT_GAMEPLAY, Drop.SHORT_INTERVAL),
    "4 export": (Drop.VIDEO_UNDECODABLE,),
}
"""Which stage drops for which reasons."""


@dataclass(frozen=True)
class RecordingReport:
    """One recording. Times in nanoseconds of video."""

    name: str
    frames_in: int
    dropped: dict[str, int]
    """Frames by reason; reasons that did not occur are absent."""
    kept: int
    kept_ns: int
    episodes: int
    fps: float
    verdicts: dict[str, int]
    thumbnails: dict[str, list[Thumbnail]] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source, outcome: Outcome) -> RecordingReport:
        counts = np.bincount(outcome.drop, minlength=len(Drop))
        pts_ns = source.table.pts_ns
        return cls(
            source.name,
            len(outcome.drop),
            {reason.name.lower(): int(counts[reason]) for reason in Drop if reason and counts[reason]},
            int(counts[Drop.KEPT]),
            sum(int(pts_ns[last] - pts_ns[first]) for first, last, _ in outcome.episodes),
            len(outcome.episodes),
            source.fps,
            dict(sorted(outcome.verdicts.items())),
            outcome.sheet.groups,
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> RecordingReport:
        pictures = {
            group: [Thumbnail(**one) for one in sheet] for group, sheet in fields.pop("thumbnails").items()
        }
        return cls(**fields, thumbnails=pictures)


@dataclass(frozen=True)
class Failure:
    """A recording that could not be cleaned, and why, in one line."""

    name: str
    message: str


@dataclass(frozen=True)
class RunReport:
    """All recordings of a run."""

    recordings: tuple[RecordingReport, ...]
    failures: tuple[Failure, ...] = ()
    reused: int = 0
    """Recordings that an earlier run had done."""
    waiting: int = 0
    """Questions of batch mode that have no answer yet."""

    @property
    def frames_in(self) -> int:
        return sum(recording.frames_in for recording in self.recordings)

    @property
    def kept(self) -> int:
        return sum(recording.kept for recording in self.recordings)

    @property
    def hours_kept(self) -> float:
        return sum(recording.kept_ns for recording in self.recordings) / 3.6e12

    @property
    def dropped(self) -> Counter[str]:
        return sum((Counter(recording.dropped) for recording in self.recordings), Counter())

    def stages(self) -> dict[str, dict[str, Any]]:
        """Per stage: frames in, dropped by reason, frames out."""
        dropped, frames, stages = self.dropped, self.frames_in, {}
        for stage, reasons in STAGES.items():
            here = {r.name.lower(): dropped[r.name.lower()] for r in reasons if dropped[r.name.lower()]}
            stages[stage] = {"in": frames, "dropped": here, "out": frames - sum(here.values())}
            frames -= sum(here.values())
        return stages

    def summary(self) -> dict[str, Any]:
        """The JSON summary, without pictures."""
        recordings = [recording.to_json() for recording in self.recordings]
        for recording in recordings:
            del recording["thumbnails"]
        return {
            "frames_in": self.frames_in,
            "kept": self.kept,
            "hours_kept": round(self.hours_kept, 6),
            "episodes": sum(recording.episodes for recording in self.recordings),
            "stages": self.stages(),
            "recordings": recordings,
            "failures": [asdict(failure) for failure in self.failures],
        }
