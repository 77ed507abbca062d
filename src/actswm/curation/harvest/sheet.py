"""The page to look at: hours by stage, and pictures of kept and rejected clips by reason, sampled evenly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from ...atomic import write_whole
from ..thumbnails import thumbnail
from .listing import moment, settle_clips
from .look import sample_near
from .pipeline import Harvest, Ways
from .plan import Plan
from .records import Folder
from .stages import clip_name
from .summary import hours_by_stage
from .verdicts import Clip
from .video import Video

_MOST = 48


def write_sheet(root: Path) -> Path:
    path = root / "index.html"
    write_whole(path, render(root, token=""))
    return path


def render(root: Path, token: str) -> str:
    """One file with the pictures inside; with a `token` it has buttons to overrule verdicts."""
    folder = Folder(root)
    plan = Plan.load(folder)
    videos = Harvest(root, plan, Ways()).videos()
    settled = settle_clips(folder, [video.id for video in videos])
    groups: dict[str, list[tuple[Video, Clip]]] = {}
    for video in videos:
        for clip in settled.get(video.id, ()):
            groups.setdefault(clip.verdict, []).append((video, clip))
    shown = []
    for verdict, clips in sorted(groups.items(), key=lambda group: (group[0] == "kept", group[0])):
        places = np.unique(np.linspace(0, len(clips) - 1, min(_MOST, len(clips)), dtype=int))
        cards = [_card(folder, *clips[i]) for i in places.tolist()]
        hours = sum(clip.seconds for _, clip in clips) / 3600
        shown.append({"verdict": verdict, "clips": len(clips), "hours": hours, "cards": cards})
    environment = Environment(
        loader=PackageLoader("actswm.curation", "harvest"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("sheet.html.j2").render(
        title=plan.settings.title, stages=hours_by_stage(folder), groups=shown, token=token
    )


def _card(folder: Folder, video: Video, clip: Clip) -> dict[str, object]:
    samples = folder.samples / f"{video.id}.zip"
    bgr = sample_near(samples, (clip.first + clip.end) // 2) if samples.exists() else None
    picture = "" if bgr is None else thumbnail(0, bgr[..., ::-1]).jpeg_base64
    return {
        "clip": clip_name(video.id, clip),
        "picture": picture,
        "title": video.name,
        "link": moment(video, clip.start_s),
        "from": clip.start_s,
        "to": clip.end_s,
        "verdict": clip.verdict,
        "seconds": clip.seconds,
    }
