"""From the verdicts on all videos to the list of clips: duplicates once, a person's word last, with provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from .duplicates import DuplicateIndex, Signature
from .look import Look
from .plan import Plan
from .records import Folder
from .reviews import read_reviews
from .stages import clip_name
from .timeline import Timeline
from .verdicts import Clip
from .video import Video


def settle_clips(folder: Folder, ids: Sequence[str]) -> dict[str, list[Clip]]:
    """Every clip with its last verdict, by video, in the order of discovery: the first of two duplicates stays."""
    index, reviews = DuplicateIndex(), read_reviews(folder)
    settled: dict[str, list[Clip]] = {}
    for id in ids:
        record = folder.record("filter", id)
        if record is None or folder.record("cut", id) is None:
            continue
        seen = Look.load(folder.work / "cut" / f"{id}.npz")
        normalised = folder.record("normalise", id)
        assert normalised is not None
        tick = float(Timeline.from_json(normalised["timeline"]).tick)
        settled[id] = []
        for number, clip in enumerate(Clip.from_json(told) for told in record["clips"]):
            said = reviews.get(clip_name(id, clip))
            if said is not None:
                clip = replace(clip, verdict="kept" if said.keep else "overruled")
            if clip.verdict == "kept":
                times = seen.pts[clip.first : clip.end].astype(np.float64) * tick
                signature = Signature((id, number), times, seen.hashes[clip.first : clip.end])
                other = index.find(signature) if said is None else None
                if other is not None:
                    clip = replace(clip, verdict="duplicate")
                else:
                    index.add(signature)
            settled[id].append(clip)
    return settled


def clip_rows(
    folder: Folder, videos: Sequence[Video], plan: Plan, settled: dict[str, list[Clip]]
) -> list[dict[str, Any]]:
    """A line for each clip that was exported: what it is, and where every frame of it comes from."""
    rows = []
    for video in videos:
        exported, fetched = folder.record("export", video.id), folder.record("download", video.id)
        normalised = folder.record("normalise", video.id)
        if exported is None or fetched is None or normalised is None:
            continue
        files = {told["file"]: told for told in exported["clips"]}
        timeline = normalised["timeline"]
        for clip in settled.get(video.id, ()):
            told = files.get(clip_name(video.id, clip))
            if clip.verdict != "kept" or told is None:
                continue
            source = {name: value for name, value in fetched["video"].items() if name != "id"}
            rows.append(
                {
                    "clip": told["file"],
                    "sha256": told["sha256"],
                    "frames": told["frames"],
                    "fps": plan.settings.fps,
                    "height": plan.settings.height,
                    "width": plan.settings.width,
                    "domain": plan.settings.name,
                    "start_pts": clip.start_pts,
                    "end_pts": clip.end_pts,
                    "time_base": timeline["time_base"],
                    "start_s": clip.start_s,
                    "end_s": clip.end_s,
                    "crop": timeline["crop"],
                    "bad": clip.bad,
                    "static": clip.static,
                    "link": moment(video, clip.start_s),
                    "source": {
                        "id": video.id,
                        **source,
                        "sha256": fetched["sha256"],
                        "format": fetched["format"],
                        "codec": timeline["codec"],
                    },
                }
            )
    return rows


def moment(video: Video, seconds: float) -> str:
    """A link that opens the video there, where the site can do that; empty for what is no web address."""
    parts = urlsplit(video.url)
    if parts.scheme not in ("http", "https"):
        return ""
    if parts.hostname and parts.hostname.removeprefix("www.") in ("youtube.com", "youtu.be", "m.youtube.com"):
        return f"{video.url}{'&' if parts.query else '?'}t={int(seconds)}s"
    return f"{video.url.split('#')[0]}#t={seconds:.3f}"
