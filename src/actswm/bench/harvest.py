"""Cut + filter + export against bare decoding and encoding of the same video, and memory against its length."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..curation.harvest.encode import Shape, export_clips
from ..curation.harvest.named import Named
from ..curation.harvest.pipeline import Harvest, Ways
from ..curation.harvest.plan import Plan
from ..curation.harvest.settings import HarvestSettings, settings_of
from ..curation.harvest.timeline import read_timeline
from .clean import _make_video
from .memory import peak_mib
from .streams.freedoom_takes import freedoom_take
from .streams.stream import Style, make_stream

DOMAINS = {"negative": "gta5", "positive": "freedoom"}
_STAGES = ("cut", "filter", "export")


@dataclass(frozen=True)
class HarvestBench:
    """Seconds of the transcoding over seconds of the harvest, the median over rounds in which both take turns."""

    harvest_over_transcode_negative: float
    harvest_over_transcode_positive: float
    harvest_over_transcode_negative_cpu: float
    """In processor time, which other programs do not disturb."""
    harvest_over_transcode_positive_cpu: float
    transcode_fps: float
    frames: int
    height: int
    width: int
    kept_share_negative: float
    kept_share_positive: float
    rss_growth_mib: float
    """Peak memory of a harvest of the longer video less that of the shorter one."""
    rss_short_mib: float
    rss_long_mib: float


def bench_harvest(
    seconds: float = 20.0,
    repeats: int = 3,
    shape: tuple[int, int] = (720, 1280),
    lengths_s: tuple[int, int] = (60, 600),
    progress: Callable[[str], None] = lambda what: None,
) -> HarvestBench:
    """On a stream of Freedoom with its HUD and menus, in a negative domain (words) and a positive one (templates)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        progress("playing and coding a stream")
        take = freedoom_take(folder, 1, seconds)
        video = folder / "stream.mp4"
        truth = make_stream(video, [(take, 0, len(take.labels))], Style(*shape, fps=30), 1)
        rounds: list[dict[str, tuple[float, float]]] = []
        kept: dict[str, float] = {}
        for number in range(repeats):
            progress(f"round {number + 1} of {repeats}")
            one = {"transcode": _timed(lambda: _transcode(video, settings_of("gta5")))}
            for kind, domain in DOMAINS.items():
                harvest = _prepared(folder / f"{kind}-{number}", video, settings_of(domain))
                one[kind] = _timed(lambda harvest=harvest: _stages(harvest))  # type: ignore[misc]
                exported = sum(
                    row["seconds"] for row in harvest.folder.list_stage("export", [harvest.videos()[0].id])
                )
                kept[kind] = exported / truth.pts_s[-1]
            rounds.append(one)
        peaks = []
        for length in lengths_s:
            progress(f"harvesting {length} s for its memory")
            long = folder / f"long{length}.mkv"
            _make_video(long, 180, 320, length)
            peaks.append(peak_mib(_harvest_bare, folder / f"memory-{length}", long))

    def ratio(kind: str, clock: int) -> float:
        return float(np.median([one["transcode"][clock] / one[kind][clock] for one in rounds]))

    return HarvestBench(
        ratio("negative", 0),
        ratio("positive", 0),
        ratio("negative", 1),
        ratio("positive", 1),
        len(truth.pts_s) / float(np.median([one["transcode"][0] for one in rounds])),
        len(truth.pts_s),
        *shape,
        kept["negative"],
        kept["positive"],
        peaks[1] - peaks[0],
        *peaks,
    )


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def _transcode(video: Path, settings: HarvestSettings) -> None:
    """What a clip of the whole video costs: the same decoder, scaler and encoder, nothing else."""
    timeline = read_timeline(video, settings.cut.hole)
    whole = [(timeline.first_pts, timeline.end_pts, video.with_name("transcoded.mp4"))]
    export_clips(timeline, whole, Shape(settings.height, settings.width, settings.fps), lambda done: None)


def _prepared(root: Path, video: Path, settings: HarvestSettings) -> Harvest:
    """A harvest up to where the benchmark begins."""
    plan = Plan(settings, Named(local=(str(video),)))
    harvest = Harvest(root, plan, Ways())
    with harvest.alone():
        plan.save(harvest.folder)
        videos = harvest.discover()
        harvest.download(videos)
        harvest.normalise(videos)
    return harvest


def _stages(harvest: Harvest) -> None:
    videos = harvest.videos()
    for stage in _STAGES:
        getattr(harvest, stage)(videos)
    if harvest.outcome.failures:
        raise RuntimeError(f"the made stream failed: {harvest.outcome.failures[0]}")


def _harvest_bare(root: Path, video: Path) -> None:
    """Without words, whose OCR would need more than all else."""
    settings = settings_of("gta5")
    settings = replace(settings, filter=replace(settings.filter, words={}, most_static=None))
    _stages(_prepared(root, video, settings))
