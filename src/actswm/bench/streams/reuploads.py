"""Re-uploads of streams: smaller, darker, begun later, with a mark in a corner. How many of their clips are known?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

from ...curation.harvest.listing import settle_clips
from ...curation.harvest.named import Named
from ...curation.harvest.plan import Plan
from ...curation.harvest.records import Folder
from ...curation.harvest.settings import HarvestSettings
from ...formats.video import decode
from .measure import filtered

_SKIPPED_S = 1.3
_HEIGHT = 240


@dataclass(frozen=True)
class Reuploads:
    clips: int
    """Of re-uploads, that the filter keeps."""
    found: int
    """Of these, told as duplicates."""
    originals: int
    wrong: int
    """Clips of originals that are told as duplicates."""


def reupload(source: Path, target: Path) -> None:
    """Coded anew, as somebody else would put it up."""
    with av.open(str(target), "w") as container:
        stream: Any = None
        for frame in decode(source):
            at = frame.picture.pts * frame.picture.time_base - Fraction(_SKIPPED_S)
            if at < 0:
                continue
            height, width = frame.shape
            rgb = (frame.rgb(_HEIGHT, round(_HEIGHT * width / height / 2) * 2) * 0.9).astype(np.uint8)
            cv2.putText(rgb, "best of", (8, 20), 0, 0.5, (255, 255, 255))
            picture = av.VideoFrame.from_ndarray(rgb, format="rgb24")
            if stream is None:
                stream = container.add_stream("mpeg4", rate=30)
                stream.width, stream.height, stream.pix_fmt = picture.width, _HEIGHT, "yuv420p"
                stream.bit_rate, stream.codec_context.time_base = 900_000, Fraction(1, 1000)
            picture.pts, picture.time_base = round(at * 1000), Fraction(1, 1000)
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))


def measure_reuploads(work: Path, streams: Path, copies: Path, settings: HarvestSettings) -> Reuploads:
    """Re-uploads of all `streams` are made in `copies` and harvested behind them; what `work` has is not done again."""
    copies.mkdir(parents=True, exist_ok=True)
    plan = Plan(settings, Named(local=(str(streams), str(copies))))
    for original in Named(local=(str(streams),)).files():
        reupload(Path(original.path), copies / f"{Path(original.path).stem}.mkv")
    videos = filtered(work, plan)
    settled = settle_clips(Folder(work), [video.id for video in videos])
    judged, told = Counter[bool](), Counter[bool]()
    for video in videos:
        copied = Path(video.path).parent == copies.resolve()
        for clip in settled[video.id]:
            judged[copied] += clip.verdict in ("kept", "duplicate")
            told[copied] += clip.verdict == "duplicate"
    return Reuploads(judged[True], told[True], judged[False], told[False])
