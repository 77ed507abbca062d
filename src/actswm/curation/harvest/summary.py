"""Hours in and out of every stage, and what was left out why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .listing import settle_clips
from .pipeline import Harvest, Ways
from .plan import Plan
from .records import Folder


@dataclass(frozen=True)
class StageRow:
    stage: str
    videos: int
    hours_in: float
    hours_out: float
    rejected: dict[str, float]
    """Hours by reason."""


def hours_by_stage(folder: Folder) -> list[StageRow]:
    """Of what the records say; lengths that no site told are known once a video is normalised."""
    videos = Harvest(folder.root, Plan.load(folder), Ways()).videos()
    ids = [video.id for video in videos]
    lengths = {
        video.id: (video.duration or (folder.record("normalise", video.id) or {}).get("seconds", 0.0)) / 3600
        for video in videos
    }
    told = sum(lengths.values())
    rows = [StageRow("discover", len(videos), told, told, {})]
    fetched = [id for id in ids if folder.record("download", id)]
    rows.append(StageRow("download", len(fetched), told, sum(lengths[id] for id in fetched), {}))
    before = 0.0
    for stage in ("normalise", "cut"):
        records = [record for record in (folder.record(stage, id) for id in ids) if record]
        hours = sum(record["seconds"] for record in records) / 3600
        rows.append(StageRow(stage, len(records), before or hours, hours, {}))
        before = hours
    lost: Counter[str] = Counter()
    kept = whole = 0.0
    settled = settle_clips(folder, ids)
    for clips in settled.values():
        for clip in clips:
            whole += clip.seconds / 3600
            if clip.verdict == "kept":
                kept += clip.seconds / 3600
            else:
                lost[clip.verdict] += clip.seconds / 3600  # type: ignore[assignment]
    rows.append(StageRow("filter", len(settled), whole, kept, dict(lost.most_common())))
    records = [record for record in (folder.record("export", id) for id in ids) if record]
    rows.append(StageRow("export", len(records), kept, sum(r["seconds"] for r in records) / 3600, {}))
    return rows
