"""What a harvest found against the truth of its streams: cuts, and seconds of kept footage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...curation.harvest.pipeline import Harvest, Ways
from ...curation.harvest.plan import Plan
from ...curation.harvest.records import Folder
from ...curation.harvest.video import Video
from .stream import Truth
from .takes import PLAY

_NEAR_S = 0.15
"""A cut is found if one is told so close to it."""
_FADE_S = 1.0
"""A fade is found anywhere between the first darkening and the last."""
_CHANGE_S = 0.4
"""Around a menu or death that fills the screen a cut is neither right nor wrong."""
NEUTRAL = "fade"


@dataclass(frozen=True)
class Figures:
    hours: float
    cuts: int
    cut_recall: float
    false_cuts: int
    false_cuts_per_hour: float
    precision: float
    """Of the seconds kept, the share that shows play."""
    recall: float
    """Of the seconds of play, the share that is kept."""
    kept_share: float


def filtered(work: Path, plan: Plan) -> list[Video]:
    """The videos of a plan, harvested up to their verdicts."""
    harvest = Harvest(work, plan, Ways())
    with harvest.alone():
        plan.save(harvest.folder)
        videos = harvest.discover()
        for stage in (harvest.download, harvest.normalise, harvest.cut, harvest.filter):
            stage(videos)
    if harvest.outcome.failures:
        raise RuntimeError(f"a made stream failed: {harvest.outcome.failures[0]}")
    return videos


def measure(root: Path, streams: Sequence[tuple[str, Truth]]) -> Figures:
    """`streams` are (id, truth) of videos in the harvest at `root`."""
    folder = Folder(root)
    found = wrong = joints = 0
    seconds = kept_play = kept = play = whole = 0.0
    for id, truth in streams:
        cut, judged = folder.record("cut", id), folder.record("filter", id)
        assert cut is not None and judged is not None, id
        told = np.array([one["s"] for one in cut["cuts"][1:]])
        hits, misses = _cuts(truth, told)
        joints += len(truth.cuts) + len(truth.fades)
        found, wrong = found + hits, wrong + misses
        times = np.array(truth.pts_s) - truth.pts_s[0]
        lasting = np.append(np.diff(times), np.median(np.diff(times)))
        labels = np.array(truth.labels)
        inside = np.zeros(len(times), bool)
        for clip in judged["clips"]:
            if clip["verdict"] == "kept":
                inside |= (times >= clip["start_s"] - 1e-4) & (times < clip["end_s"] - 1e-4)
        real = labels != NEUTRAL
        kept += float(lasting[inside & real].sum())
        play += float(lasting[labels == PLAY].sum())
        kept_play += float(lasting[inside & (labels == PLAY)].sum())
        seconds += float(lasting.sum())
        whole += float(lasting[real].sum())
    hours = seconds / 3600
    return Figures(
        hours,
        joints,
        found / joints if joints else 1.0,
        wrong,
        wrong / hours,
        kept_play / kept if kept else 0.0,
        kept_play / play if play else 0.0,
        kept / whole,
    )


def _cuts(truth: Truth, told: np.ndarray) -> tuple[int, int]:
    """Joints that were found, and cuts told where nothing happened."""
    times = np.array(truth.pts_s) - truth.pts_s[0]
    used = np.zeros(len(told), bool)
    found = 0
    for joint, reach in [(c, _NEAR_S) for c in truth.cuts] + [(f, _FADE_S) for f, _ in truth.fades]:
        near = np.abs(told - times[joint]) <= reach
        found += bool(near.any())
        used |= near
    changes = [times[i] for i in range(1, len(times)) if truth.labels[i] != truth.labels[i - 1]]
    for change in changes:
        used |= np.abs(told - change) <= _CHANGE_S
    return found, int((~used).sum())
