"""Real captures of the games that are here, cut together, served and harvested: what is kept is play."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import av
import pytest

from actswm.bench.streams.measure import measure
from actswm.bench.streams.stream import Style, make_stream
from actswm.bench.streams.takes import Take

from .video_server import video_server

SECONDS = 8.0
PATH = "/usr/games:/usr/local/games:/usr/bin:/usr/local/bin"
STYLES = {
    "freedoom": Style(480, 640, 24, "mpeg4", ".mkv", bars=(60, 0), variable=True),
    "minetest": Style(360, 800, 30, bars=(0, 80)),
    "openarena": Style(360, 640, 30, webcam=True, fade_s=0.4),
}


def captured(game: str, folder: Path) -> list[Take]:
    if game == "freedoom":
        from actswm.bench.streams.freedoom_takes import freedoom_take

        return [freedoom_take(folder, seed, SECONDS) for seed in (900, 901)]
    if not (shutil.which(game, path=PATH) and shutil.which("Xvfb")):
        pytest.skip(f"{game} is not installed")
    if game == "minetest":
        from actswm.bench.streams.minetest_takes import minetest_takes

        return minetest_takes(folder, 902, SECONDS, takes=2)
    from actswm.bench.streams.openarena_takes import openarena_takes

    return openarena_takes(folder, 903, SECONDS, takes=1)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("game", STYLES)
def test_what_is_kept_is_play(game, tmp_path):
    takes, style = captured(game, tmp_path), STYLES[game]
    stream = tmp_path / f"stream{style.suffix}"
    truth = make_stream(stream, [(take, 0, len(take.labels)) for take in takes], style, 1)
    assert len(set(truth.labels) - {"fade"}) >= 2
    with video_server() as site:
        site.files["/stream.mp4"] = ("video/mp4", stream.read_bytes())
        program = [
            sys.executable,
            "-c",
            "from actswm.cli.main import run; run()",
            "harvest",
            "--domain",
            game,
        ]
        wanted = ["--url", f"{site.url}/stream.mp4", "--out", "clips", "--pause", "0", "--rate", "0"]
        done = subprocess.run(
            [*program, *wanted], cwd=tmp_path, capture_output=True, text=True, timeout=600, env={**os.environ}
        )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "clips" / "clips.jsonl").read_text().splitlines()]
    figures = measure(tmp_path / "clips", [(rows[0]["source"]["id"], truth)])
    assert figures.precision >= 0.95 and figures.recall >= 0.85, figures
    rows_crop, columns_crop = style.bars
    crop = rows[0]["crop"]
    assert abs(crop[0] - rows_crop) <= 2 and abs(crop[2] - columns_crop) <= 2
    for row in rows:
        with av.open(str(tmp_path / "clips" / row["clip"])) as clip:
            assert not clip.streams.audio and clip.streams.video[0].average_rate == 20
            assert (clip.streams.video[0].height, clip.streams.video[0].width) == (360, 640)
