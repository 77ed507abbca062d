"""What a run did: per recording and in all, as data that JSON, the table and the page are made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..formats.video import NS
from .export import Outcome
from .frames import SLOWEST_FPS, Drop, Source
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
    "4 export": (Drop.VIDEO_UNDECODABLE, Drop.VIDEO_CORRUPT),
}
"""Which stage drops for which reasons."""
_SAME_RATE = 0.01
_UNEVEN = 0.05


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
    """Frames a second where something was kept: with a variable rate the mean."""
    verdicts: dict[str, int]
    thumbnails: dict[str, list[Thumbnail]] = field(default_factory=dict)
    clock: dict[str, int] | None = None
    """The offset between input log and video, and how far the first screen message is from it."""
    unreadable: dict[str, int] = field(default_factory=dict)
    """What was wrong with messages or lines that did not decode, and how often."""
    notes: tuple[str, ...] = ()
    """What a person should know before using the frames."""

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
            _effective_fps(source, outcome),
            dict(sorted(outcome.verdicts.items())),
            outcome.sheet.groups,
            asdict(source.clock) if source.clock else None,
            dict(source.unreadable),
            tuple(_notes(source, outcome)),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> RecordingReport:
        """Raises `ValueError`, `KeyError` or `TypeError` over anything that `to_json` does not write."""
        counts = ("frames_in", "kept", "kept_ns", "episodes")
        tables = [fields[name] for name in ("dropped", "verdicts", "unreadable")]
        sound = (
            isinstance(fields["name"], str)
            and all(_is_count(fields[name]) for name in counts)
            and isinstance(fields["fps"], (int, float))
            and 0 < fields["fps"] < 1e6
            and all(isinstance(table, dict) and all(map(_is_count, table.values())) for table in tables)
            and all(isinstance(note, str) for note in fields["notes"])
            and isinstance(fields["clock"], dict | None)
            and isinstance(fields["thumbnails"], dict)
            and fields["thumbnails"].keys() <= fields["verdicts"].keys()
        )
        if not sound:
            raise ValueError("not a report on a recording")
        pictures = {
            group: [Thumbnail(int(one["pts_ns"]), str(one["jpeg_base64"])) for one in sheet]
            for group, sheet in fields["thumbnails"].items()
        }
        return cls(**{**fields, "notes": tuple(fields["notes"]), "thumbnails": pictures})


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _effective_fps(source: Source, outcome: Outcome) -> float:
    """The video's frames over the time of the episodes; the usual rate where that is no more than rounding apart."""
    pts_ns = source.table.pts_ns
    steps = sum(last - first for first, last, _ in outcome.episodes)
    span_ns = sum(int(pts_ns[last] - pts_ns[first]) for first, last, _ in outcome.episodes)
    if source.resampled or not steps or not span_ns:
        return source.fps
    fps = round(steps * NS / span_ns, 2)
    return source.fps if abs(fps / source.fps - 1) < _SAME_RATE else max(SLOWEST_FPS, fps)


def _notes(source: Source, outcome: Outcome) -> Iterator[str]:
    yield from source.notes
    if source.clock and source.clock.first_is_outlier:
        yield (
            f"its first screen message is {-source.clock.first_ns / 1e6:.0f} ms off the clock of the others (the "
            f"recorder's start-up); inputs are aligned by the median of {source.clock.messages} messages"
        )
    fps = _effective_fps(source, outcome)
    if abs(fps / source.fps - 1) > _UNEVEN:
        yield (
            f"its frames come unevenly: {source.fps:g} a second as a rule, {fps:g} on average; --fps makes them even"
        )
    if outcome.drop.all():
        reasons = Counter(Drop(reason).name.lower().replace("_", " ") for reason in outcome.drop.tolist())
        [(reason, count)] = reasons.most_common(1)
        fields = "".join(f"; {what} ({often} times)" for what, often in list(source.unreadable.items())[:2])
        yield f"nothing was kept: {count:,} of {len(outcome.drop):,} frames dropped as {reason}{fields}"


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
