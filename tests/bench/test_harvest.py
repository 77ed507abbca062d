"""The harvest benchmark runs on a small stream, and measures rightly where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from actswm.bench.harvest import bench_harvest
from actswm.bench.streams.measure import measure
from actswm.bench.streams.reuploads import Reuploads, measure_reuploads
from actswm.bench.streams.stream import Truth
from actswm.curation.harvest.records import Folder
from actswm.curation.harvest.settings import settings_of

from ..curation.harvest.made_streams import PLAIN, write_video


@pytest.mark.timeout(900)
def test_every_figure_is_there() -> None:
    pytest.importorskip("rapidocr")
    result = bench_harvest(seconds=4.0, repeats=1, shape=(180, 320), lengths_s=(4, 8))
    assert result.harvest_over_transcode_negative > 0 and result.harvest_over_transcode_positive > 0
    assert result.rss_growth_mib == result.rss_long_mib - result.rss_short_mib
    assert result.frames > 100 and 0 <= result.kept_share_positive <= 1.2


def test_what_is_measured(tmp_path) -> None:
    """Ten frames a second: six seconds of play, two of menu, a cut at 4 s that was found and one that was not."""
    labels = ["play"] * 60 + ["menu"] * 20
    truth = Truth(tuple(np.arange(80) / 10), tuple(labels), (40, 60), ())
    folder = Folder(tmp_path)
    folder.make()
    done = {"key": "", "seconds": 8.0}
    folder.keep("cut", "v", {**done, "frames": 80, "cuts": [{"s": 0.0}, {"s": 4.0}, {"s": 2.0}]})
    clips = [
        {"first": 10 * start, "end": 10 * end, "start_pts": start, "end_pts": end, "start_s": start, "end_s": end}
        | {"verdict": verdict, "bad": 0.0, "static": 0.0, "states": {}}
        for start, end, verdict in ((1, 7, "kept"), (7, 8, "menu"))
    ]
    folder.keep("filter", "v", {**done, "clips": clips})
    figures = measure(tmp_path, [("v", truth)])
    assert (figures.cut_recall, figures.false_cuts) == (0.5, 1)
    assert figures.precision == pytest.approx(5 / 6) and figures.recall == pytest.approx(5 / 6)


def test_re_uploads_are_known_and_originals_are_not_taken_for_them(tmp_path) -> None:
    streams = tmp_path / "streams"
    streams.mkdir()
    (tmp_path / "plain.yaml").write_text(PLAIN)
    for number in range(2):
        write_video(streams / f"{number}.mp4", 180, first_scene=10 * number)
    settings = settings_of(str(tmp_path / "plain.yaml"))
    result = measure_reuploads(tmp_path / "work", streams, tmp_path / "copies", settings)
    assert result == Reuploads(clips=4, found=4, originals=4, wrong=0)
