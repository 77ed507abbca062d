"""End to end against a site on loopback: yt-dlp really fetches, troubles are counted, nothing is fetched twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import av
import pytest

from actswm.curation.harvest.addresses import Guard
from actswm.formats.video import decode

from .made_streams import PLAIN, number_of, write_video
from .video_server import VideoServer, video_server

PROGRAM = [sys.executable, "-c", "from actswm.cli.main import run; run()"]


@pytest.fixture(scope="module")
def videos(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("videos")
    return {
        "/one.mp4": write_video(folder / "one.mp4", 240, bars=(20, 0)).read_bytes(),
        "/two.mp4": write_video(
            folder / "two.mp4", 150, fps=24, scene_frames=72, first_scene=50
        ).read_bytes(),
    }


@pytest.fixture
def site(videos):
    with video_server() as server:
        server.files = {path: ("video/mp4", data) for path, data in videos.items()}
        yield server


def harvest(folder: Path, *arguments: object, timeout: float = 200) -> subprocess.CompletedProcess[str]:
    (folder / "plain.yaml").write_text(PLAIN)
    return subprocess.run(
        [*PROGRAM, "harvest", *map(str, arguments)],
        cwd=folder, capture_output=True, text=True, timeout=timeout, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip


def whole(
    folder: Path, site: VideoServer, *names: str, more: tuple[object, ...] = ()
) -> subprocess.CompletedProcess[str]:
    urls = [word for name in names for word in ("--url", site.url + name)]
    return harvest(
        folder, "--domain", "plain.yaml", *urls, "--out", "clips", "--pause", 0, "--rate", 0, *more
    )


def rows(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "clips" / "clips.jsonl").read_text().splitlines()]


def clips(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "clips").glob("*.mp4"))}


def test_from_a_feed_to_mute_clips_with_exact_time_codes(tmp_path, site):
    site.feed("/feed.xml", "/one.mp4", "/two.mp4")
    done = whole(tmp_path, site, "/feed.xml", more=("--workers", 2))
    assert done.returncode == 0, done.stderr
    listed = rows(tmp_path)
    assert len(listed) == 5 and {row["clip"] for row in listed} == set(clips(tmp_path))
    for row in listed:
        with av.open(str(tmp_path / "clips" / row["clip"])) as container:
            assert not container.streams.audio and len(container.streams) == 1
            stream = container.streams.video[0]
            assert stream.average_rate == 15 and (stream.height, stream.width) == (90, 160)
        numbers = [number_of(frame.rgb(*frame.shape)) for frame in decode(tmp_path / "clips" / row["clip"])]
        assert len(numbers) == row["frames"]
        fps = 30 if row["source"]["url"].endswith("one.mp4") else 24
        tick = row["time_base"][0] / row["time_base"][1]
        first = row["start_pts"] * tick * fps
        expected = [int(first + k * fps / 15 + 1e-6) for k in range(len(numbers))]
        assert numbers == expected
        assert row["source"]["sha256"] and row["link"].startswith(row["source"]["url"])
    starts = sorted(round(row["start_s"], 3) for row in listed if row["source"]["url"].endswith("one.mp4"))
    assert starts == [0.0, 3.0, 6.0]
    crops = {row["source"]["url"].rsplit("/", 1)[1]: row["crop"] for row in listed}
    assert crops == {"one.mp4": [20, 200, 0, 320], "two.mp4": [0, 180, 0, 320]}
    before, asked = clips(tmp_path), site.requests.copy()
    again = whole(tmp_path, site, "/feed.xml")
    assert again.returncode == 0 and "nothing was missing" in again.stdout
    assert site.requests == asked and clips(tmp_path) == before
    page = (tmp_path / "clips" / "index.html").read_text()
    assert "kept (5 clips" in page and f"{site.url}/one.mp4#t=3.000" in page


def test_troubles_are_counted_by_reason_and_the_others_are_done(tmp_path, site):
    names = [
        "/two.mp4",
        "/gone.mp4",
        "/limited.mp4",
        "/later.mp4",
        "/html.mp4",
        "/broken.mp4",
        "/empty.mp4",
        "/long.mp4",
    ]
    two = site.files["/two.mp4"]
    site.files |= {
        "/limited.mp4": two, "/later.mp4": two, "/html.mp4": two, "/long.mp4": two,
        "/broken.mp4": ("video/mp4", b"\0\0\0\x18ftypmp42" + bytes(5000)), "/empty.mp4": ("video/mp4", b""),
    }  # fmt: skip
    site.trouble = {
        "/limited.mp4": ["429!"],
        "/later.mp4": ["429"],
        "/html.mp4": ["html!"],
        "/long.mp4": ["long!"],
    }
    done = whole(tmp_path, site, *names, more=("--timeout", 3))
    assert done.returncode == 1
    reasons = done.stderr.splitlines()[-1]
    for told in ("not found 1", "rate limited 1", "not a video 1", "broken 1", "wrong length 1"):
        assert told in reasons, done.stderr
    assert reasons.startswith("6 failed") and "empty 1" in reasons
    fetched = (tmp_path / "clips" / "harvest" / "cut.jsonl").read_text().splitlines()
    assert len(fetched) == 2  # the one that was asked to come back later, too: its clips are the other's
    assert {row["source"]["url"].rsplit("/", 1)[1] for row in rows(tmp_path)} == {"two.mp4"}


def test_a_cut_connection_is_continued_where_it_broke(tmp_path, site):
    site.trouble = {"/one.mp4": ["", "", "cut"]}
    done = whole(tmp_path, site, "/one.mp4")
    assert done.returncode == 0, done.stderr
    assert len(rows(tmp_path)) == 3
    assert any(told.startswith("/one.mp4 ") and not told.endswith(" 0") for told in site.ranges)


def test_a_body_that_stands_still_is_given_up_and_a_slow_one_is_not(tmp_path, site):
    site.files["/still.mp4"] = site.files["/two.mp4"]
    site.trouble, site.block_s = {"/still.mp4": ["stall!"]}, 0.02
    done = whole(tmp_path, site, "/still.mp4", "/one.mp4", more=("--timeout", 3))
    assert done.returncode == 1 and done.stderr.splitlines()[-1].startswith("1 failed")
    assert "too slow 1" in done.stderr.splitlines()[-1], done.stderr
    assert {row["source"]["url"].rsplit("/", 1)[1] for row in rows(tmp_path)} == {"one.mp4"}


def test_no_redirect_leads_to_an_address_that_was_not_named(tmp_path, site):
    with video_server() as inside:
        inside.files["/secret.mp4"] = site.files["/two.mp4"]
        site.trouble = {"/one.mp4": [f"to {inside.url}/secret.mp4!"]}
        done = whole(tmp_path, site, "/one.mp4", "/two.mp4")
        assert done.returncode == 1 and "private address" in done.stderr
        assert not inside.requests
        assert len(rows(tmp_path)) == 2
        # A feed that names it does no better, until the user does.
        site.trouble = {}
        site.files["/feed.xml"] = ("application/rss+xml", b"")
        inside.feed("/feed.xml", "/secret.mp4")
        site.files["/feed.xml"] = inside.files["/feed.xml"]
        assert whole(tmp_path / "..", site, "/feed.xml").returncode == 1
        assert not inside.requests


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"]
)
def test_private_addresses_are_refused(address):
    guard = Guard([])
    with pytest.raises(OSError, match="not named"):
        guard.check(address, 80)
    guard.check("93.184.216.34", 80)
    assert guard.refused == [f"{address}:80"]


def test_names_and_titles_from_the_web_stay_harmless(tmp_path, site):
    evil = "/..%2f..%2f..%2fescape<script>alert(1)</script>.mp4"
    site.files[evil] = site.files["/two.mp4"]
    before = {path for path in tmp_path.rglob("*")}
    site.feed("/feed.xml", evil)
    done = whole(tmp_path, site, "/feed.xml")
    assert done.returncode == 0, done.stderr
    made = {path for path in tmp_path.rglob("*")} - before
    assert all(path.is_relative_to(tmp_path / "clips") or path.name == "plain.yaml" for path in made)
    assert all(set(path.name) <= set("0123456789abcdefghijklmnopqrstuvwxyz.-_") for path in made), made
    page = (tmp_path / "clips" / "index.html").read_text()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_a_licence_that_is_not_wanted_is_left_out(tmp_path):
    write_video(tmp_path / "free.mp4", 60)
    write_video(tmp_path / "own.mp4", 60, first_scene=9)
    told = {
        "title": "Free",
        "license": "Creative Commons Attribution",
        "webpage_url": "https://example.org/v",
        "uploader": "me",
    }
    (tmp_path / "free.info.json").write_text(json.dumps(told))
    done = harvest(tmp_path, "--domain", "plain.yaml", "--local", ".", "--out", "clips", "--licence", "cc")
    assert done.returncode == 0 and "left out: 1 videos (licence)" in done.stdout, done.stdout + done.stderr
    [row] = rows(tmp_path)
    assert row["source"]["licence"] == "Creative Commons Attribution" and row["source"]["uploader"] == "me"
    assert row["link"] == "https://example.org/v#t=0.000"


def test_a_dry_run_tells_the_plan_and_fetches_no_video(tmp_path, site):
    site.feed("/search", "/one.mp4", "/two.mp4")
    done = harvest(
        tmp_path, "--domain", "plain.yaml", "--keywords", "two words", "--search", site.url + "/search?q={words}",
        "--out", "clips", "--pause", 0, "--dry-run", "--videos", 1,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 of 2 videos" in done.stdout and "likely kept" in done.stdout
    assert not site.sent["/one.mp4"] and not list((tmp_path / "clips" / "harvest" / "sources").iterdir())


@pytest.mark.parametrize("stage", ["download", "normalise", "cut", "filter", "export"])
def test_after_a_kill_at_any_stage_the_clips_are_the_same(tmp_path, site, stage):
    """The run is killed the moment a stage leaves its first trace; a second run ends with the same bytes."""
    calm = tmp_path / "calm"
    calm.mkdir()
    assert whole(calm, site, "/one.mp4", "/two.mp4").returncode == 0
    fetched = site.sent.copy()
    site.block_s = 0.05 if stage == "download" else 0.0
    folder = tmp_path / "killed"
    folder.mkdir()
    (folder / "plain.yaml").write_text(PLAIN)
    urls = ["--url", site.url + "/one.mp4", "--url", site.url + "/two.mp4"]
    arguments = ["harvest", "--domain", "plain.yaml", *urls, "--out", "clips", "--pause", "0", "--rate", "0"]
    process = subprocess.Popen(
        [*PROGRAM, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    work = folder / "clips" / "harvest"
    traces = {
        "download": lambda: list((work / "sources").glob("*.part")),
        "normalise": lambda: list((work / "normalise").glob("*")),
        "cut": lambda: list((work / "samples").glob("*")) + list((work / "samples").glob(".*")),
        "filter": lambda: list((work / "filter").glob("*")),
        "export": lambda: list((folder / "clips").glob("*.mp4")) + list((folder / "clips").glob(".*")),
    }
    end = time.monotonic() + 120
    while not traces[stage]() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    site.block_s = 0.0
    before = site.sent.copy()
    finished = {path.name for path in (work / "download").glob("*.json")}
    assert whole(folder, site, "/one.mp4", "/two.mp4").returncode == 0
    assert clips(folder) == clips(calm) and len(clips(calm)) == 5
    if stage != "download":
        assert finished and site.sent == before  # nothing is fetched twice
    else:
        again = site.sent["/one.mp4"] + site.sent["/two.mp4"] - fetched["/one.mp4"] - fetched["/two.mp4"]
        assert again <= 1.6 * (fetched["/one.mp4"] + fetched["/two.mp4"])
    assert not [path for path in (folder / "clips").rglob("*.tmp") if str(os.getpid()) in path.name]


def test_a_full_disk_is_told_as_that(tmp_path, monkeypatch):
    import errno

    from actswm.curation.harvest import stages
    from actswm.curation.harvest.trouble import Failure

    source = write_video(tmp_path / "one.mp4", 60)

    def full(task, folder):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setitem(stages._WORK, "cut", full)
    from actswm.curation.harvest.records import Folder
    from actswm.curation.harvest.settings import settings_of

    (tmp_path / "plain.yaml").write_text(PLAIN)
    Folder(tmp_path / "clips").make()
    task = stages.Task(
        "cut", "a" * 16, "one", tmp_path / "clips", "k", settings_of(str(tmp_path / "plain.yaml")), source
    )
    result = stages.run_task(task)
    assert isinstance(result, Failure) and result.reason == "disk full" and "free some" in result.message
    assert not list((tmp_path / "clips" / "harvest" / "cut").iterdir())
