"""Whole runs: many recordings, bad ones among them, kills in the middle, and the same file at the end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from actswm.curation.domains import domain_of
from actswm.curation.report import RunReport
from actswm.curation.run import RunOptions, clean
from actswm.curation.settings import CleanSettings
from actswm.curation.sources import find_items
from actswm.data import DatasetFile, validate
from actswm.errors import UserError

from ..made.judge_server import KEY, judge_server
from ..made.recordings import MadeRecording, moving_frames

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "owamcap"
SETTINGS = CleanSettings(domain_of("games"), height=48, width=48, judge="rules")


def made_folder(folder: Path, count: int = 4, frames: int = 130) -> Path:
    folder.mkdir()
    for number in range(count):
        made = MadeRecording(folder, f"run{number}", frames + 10 * number).key(400 + 60 * number, 0x57, True)
        made.pixels = np.roll(moving_frames(frames + 10 * number), 9 * number, axis=2)
        made.write()
    return folder


def run(folder: Path, out: Path, settings: CleanSettings = SETTINGS, **options) -> RunReport:
    return clean(find_items("owamcap", [folder]), out, settings, RunOptions(**options))


def contents(path: Path) -> dict[str, bytes]:
    """Every dataset's bytes, and the attributes."""
    with h5py.File(path) as file:
        return {
            **{name: file[name][:].tobytes() for name in file},
            **{f"@{name}": repr(value).encode() for name, value in file.attrs.items()},
        }


def leftovers(out: Path) -> list[str]:
    beside = {out.name, *(f"{out.name}{end}" for end in (".manifest.json", ".summary.json", ".html"))}
    return sorted(path.name for path in out.parent.iterdir() if path.is_file() and path.name not in beside)


def command(*arguments: object) -> subprocess.Popen[str]:
    program = [sys.executable, "-c", "from actswm.cli.main import run; run()", *map(str, arguments)]
    return subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the real sample recordings are not on this machine")
def test_the_real_recordings(tmp_path) -> None:
    """18 frames: the last 4 s after the last input, the others in bursts under 200 ms. 34 frames: two bursts stay."""
    report = run(SAMPLES, tmp_path / "out.h5")
    old, new = report.recordings
    assert (new.name, new.frames_in, new.kept) == ("0.5.1.mcap", 18, 0)
    assert new.dropped == {"input_silent": 1, "short_segment": 17}
    assert (old.name, old.frames_in, old.kept, old.episodes) == ("0.4.2.mcap", 34, 16, 2)
    assert old.dropped == {"input_silent": 1, "short_segment": 17}
    validate(tmp_path / "out.h5")
    with DatasetFile(tmp_path / "out.h5") as file:
        assert file.ep_len.tolist() == [6, 10] and file.fps == 21.88  # the mean, not the usual 50
        assert file.vocabulary.pressed(file.action[0]) == ("S",)
        # The click comes 6 ms after frame 14: by the first screen message's clock it would be frame 15's.
        assert file.vocabulary.pressed(file.action[14]) == ("Fire",)


def test_processes_change_nothing(tmp_path) -> None:
    folder = made_folder(tmp_path / "in")
    run(folder, tmp_path / "one.h5")
    report = run(folder, tmp_path / "two.h5", workers=2)
    assert contents(tmp_path / "one.h5") == contents(tmp_path / "two.h5")
    assert [recording.kept for recording in report.recordings] == [130, 140, 150, 160]
    with DatasetFile(tmp_path / "two.h5") as file:
        assert file.column("recording")[[0, -1]].tolist() == [0, 3]


def test_a_second_run_does_nothing_and_a_third_only_what_is_new(tmp_path) -> None:
    folder, out = made_folder(tmp_path / "in", 3), tmp_path / "out.h5"
    assert run(folder, out).reused == 0
    before = out.stat().st_mtime_ns
    again = run(folder, out)
    assert again.reused == 3 and out.stat().st_mtime_ns == before
    MadeRecording(folder, "run1b", 140).write()
    (folder / "run2.mcap").unlink()
    third = run(folder, out)
    assert third.reused == 2 and [r.name for r in third.recordings] == [
        "run0.mcap",
        "run1.mcap",
        "run1b.mcap",
    ]
    run(folder, tmp_path / "fresh.h5")
    assert contents(out) == contents(tmp_path / "fresh.h5")
    assert leftovers(tmp_path / "fresh.h5") == sorted(
        name for name in ("out.h5", "out.h5.html", "out.h5.manifest.json", "out.h5.summary.json")
    )


def test_other_settings_clean_again(tmp_path) -> None:
    folder, out = made_folder(tmp_path / "in", 2), tmp_path / "out.h5"
    run(folder, out)
    report = run(folder, out, CleanSettings(domain_of("games"), height=32, width=32, judge="none"))
    assert report.reused == 0
    with DatasetFile(out) as file:
        assert file.height == 32


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry.update(report=-0.0),
        lambda entry: entry.update(key=7),
        lambda entry: entry.update(first_episode=1),
        lambda entry: entry["report"].update(episodes=9),
        lambda entry: entry["report"].update(kept="many"),
        lambda entry: entry["report"].update(dropped=[]),
        lambda entry: entry["report"].update(fps=0),
        lambda entry: entry["report"].update(thumbnails={"unheard of": []}),
    ],
)
def test_a_damaged_manifest_is_no_manifest(tmp_path, change) -> None:
    folder, out = made_folder(tmp_path / "in", 1), tmp_path / "out.h5"
    run(folder, out)
    path = tmp_path / "out.h5.manifest.json"
    stored = json.loads(path.read_text())
    change(stored["entries"][0])
    path.write_text(json.dumps(stored))
    before = out.read_bytes()
    with pytest.raises(UserError, match="has no manifest"):
        run(folder, out)
    assert out.read_bytes() == before


def test_bad_recordings_do_not_stop_the_others(tmp_path) -> None:
    folder, out = made_folder(tmp_path / "in", 2), tmp_path / "out.h5"
    run(folder, tmp_path / "good.h5")
    good = (folder / "run0.mcap").read_bytes()
    (folder / "a-truncated.mcap").write_bytes(good[: len(good) // 2])
    (folder / "b-empty.mcap").write_bytes(b"")
    MadeRecording(folder, "c-no-video").write()
    (folder / "c-no-video.mkv").unlink()
    made = MadeRecording(folder, "d-short")
    made.screens = [(0, {"media_ref": {"uri": "d-short.mkv", "pts_ns": ms * 10**6}}) for ms in (0, 9000)]
    made.write()
    made = MadeRecording(folder, "e-climber")
    made.screens = [(0, {"media_ref": {"uri": "../../../etc/passwd", "pts_ns": 0}})]
    made.write()
    MadeRecording(folder, "f-zero").write()
    (folder / "f-zero.mkv").write_bytes(b"")
    process = command("clean", folder, "--out", out, "--size", 48, "--judge", "rules", "--workers", 2)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    for words in (
        "a-truncated.mcap: not a complete MCAP file",
        "b-empty.mcap: the file is empty",
        "c-no-video.mcap: its video 'c-no-video.mkv' is missing",
        "d-short.mkv: ends",
        "e-climber.mcap: the video path '../../../etc/passwd' leads out",
        "f-zero.mkv: the video is empty",
    ):
        assert words in " ".join(errors.split()), words
    assert "Traceback" not in errors
    with h5py.File(out) as ours, h5py.File(tmp_path / "good.h5") as theirs:
        assert all((ours[name][:] == theirs[name][:]).all() for name in theirs)
    summary = json.loads((tmp_path / "out.h5.summary.json").read_text())
    assert len(summary["failures"]) == 6 and summary["kept"] == 270


def test_when_everything_fails_there_is_no_output(tmp_path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.mcap").write_bytes(b"")
    report = run(folder, tmp_path / "out.h5")
    assert len(report.failures) == 1 and list(tmp_path.iterdir()) == [folder]


def test_a_recording_that_makes_anything_happen_does_not_stop_the_others(tmp_path, monkeypatch) -> None:
    """Decoders raise errors of all kinds: each is one recording's, in one line."""
    import av

    import actswm.curation.sources as sources

    folder = made_folder(tmp_path / "in", 3)
    whole = sources.frame_times

    def damaged(path: Path) -> np.ndarray:
        if path.stem == "run1":
            raise av.InvalidDataError(1094995529, "Invalid data\nfound")
        return whole(path)

    monkeypatch.setattr(sources, "frame_times", damaged)
    report = run(folder, tmp_path / "out.h5")
    assert [recording.name for recording in report.recordings] == ["run0.mcap", "run2.mcap"]
    [failure] = report.failures
    assert failure.name == "run1.mcap" and "run1.mcap: cannot be read (InvalidDataError" in failure.message
    assert "\n" not in failure.message


def test_two_workers_with_nothing_left_to_do(tmp_path) -> None:
    """A run that was killed between its parts and the merge leaves only the merge to the next one."""
    folder, out = made_folder(tmp_path / "in", 2), tmp_path / "out.h5"
    run(folder, out, workers=2)
    before = contents(out)
    assert run(folder, out, workers=2).reused == 2 and contents(out) == before


def test_frames_that_the_decoder_marks_as_corrupt_are_dropped(tmp_path) -> None:
    """Bytes flipped in the middle: what is built on the damage goes, up to the next key frame; the rest is sound."""
    from actswm.formats.video import decode

    made = MadeRecording(tmp_path, frames=200)
    made.key_frames = 50
    path = made.write()
    video = path.with_suffix(".mkv")
    sound = {frame.pts_ns: frame.rgb(48, 48).astype(int) for frame in decode(video)}
    damaged = bytearray(video.read_bytes())
    for place in np.random.default_rng(0).integers(len(damaged) * 3 // 10, len(damaged) * 4 // 10, 12):
        damaged[place] ^= 0xFF
    video.write_bytes(damaged)
    report = run(tmp_path, tmp_path / "out.h5", SETTINGS)
    lost = report.dropped["video_corrupt"] + report.dropped["video_undecodable"]
    assert report.dropped["video_corrupt"] > 0 and lost + report.kept == 200 and report.kept >= 100
    with DatasetFile(tmp_path / "out.h5") as file:
        for time_ns, pixels in zip(file.column("pts_ns").tolist(), file.pixels):
            assert np.abs(pixels - sound[time_ns]).mean() < 3


def test_a_dry_run_counts_and_writes_nothing(tmp_path) -> None:
    folder = made_folder(tmp_path / "in", 2)
    report = run(folder, tmp_path / "out.h5", dry=True)
    assert report.kept == 270 and list(tmp_path.iterdir()) == [folder]


def test_a_file_of_somebody_else_is_not_overwritten(tmp_path) -> None:
    folder, out = made_folder(tmp_path / "in", 1), tmp_path / "out.h5"
    run(folder, out)
    (tmp_path / "out.h5.manifest.json").unlink()
    process = command("clean", folder, "--out", out, "--judge", "none")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2 and "has no manifest of this command beside it" in " ".join(errors.split())
    assert not (tmp_path / "out.h5.work").exists()


@pytest.mark.parametrize("parts", [0, 1, 3])
def test_killed_in_the_middle(tmp_path, parts) -> None:
    """SIGKILL when some recordings are done and others under way; a second run gives the same bytes."""
    folder = made_folder(tmp_path / "in", 6, frames=300)
    run(folder, tmp_path / "whole.h5")
    out, work = tmp_path / "out.h5", tmp_path / "out.h5.work"
    arguments = ("clean", folder, "--out", out, "--size", 48, "--judge", "rules", "--workers", 2)
    process = command(*arguments)
    while not work.exists() or len(list(work.glob("[!.]*.json"))) < parts:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL and not out.exists() and work.exists()
    process = command(*arguments)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert contents(out) == contents(tmp_path / "whole.h5")
    assert not work.exists()


def test_killed_between_the_file_and_its_manifest(tmp_path) -> None:
    folder, out = made_folder(tmp_path / "in", 3), tmp_path / "out.h5"
    run(folder, out)
    os.replace(tmp_path / "out.h5.manifest.json", tmp_path / "out.h5.manifest.next.json")
    (tmp_path / "out.h5.manifest.json").write_text('{"version": 1, "entries": []}')
    before = contents(out)
    assert run(folder, out).reused == 3 and contents(out) == before


def test_two_runs_at_once_are_refused(tmp_path) -> None:
    import fcntl

    folder, out = made_folder(tmp_path / "in", 1), tmp_path / "out.h5"
    work = tmp_path / "out.h5.work"
    work.mkdir()
    with (work / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = command("clean", folder, "--out", out, "--judge", "none")
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2 and "another run is at work" in " ".join(errors.split())


def test_online_and_batch_runs_agree(tmp_path, monkeypatch) -> None:
    """The blue recording is no play for either; batch mode first hands over, then goes on."""
    pytest.importorskip("openai", reason="the judge extra is not installed")
    folder = made_folder(tmp_path / "in", 2)
    made = MadeRecording(folder, "menu")
    made.pixels = moving_frames(100) // 4
    made.pixels[..., 2] = 250
    made.write()
    red = MadeRecording(folder, "play")
    red.pixels = moving_frames(100) // 4
    red.pixels[..., 0] = 250
    red.write()
    environment = {"JUDGE_KEY": KEY, **os.environ}
    monkeypatch.setattr(os, "environ", environment)
    with judge_server(trouble=lambda before: "429" if before == 0 else None) as server:
        service = ("--judge-model", "m", "--judge-url", server.url, "--judge-key", "JUDGE_KEY", "--size", 48)
        online = command("clean", folder, "--out", tmp_path / "online.h5", "--judge", "online", *service)
        output, errors = online.communicate(timeout=120)
        assert online.returncode == 0, errors
        batch = ("clean", folder, "--out", tmp_path / "batch.h5", "--judge", "batch", *service)
        waiting = command(*batch)
        output, _ = waiting.communicate(timeout=120)
        assert waiting.returncode == 3 and "questions are with the judge" in output
        assert not (tmp_path / "batch.h5").exists()
        done = command(*batch, "--batch-submit", "--batch-wait", 60)
        output, errors = done.communicate(timeout=120)
        assert done.returncode == 0, errors
    for name in ("pixels", "action", "pts_ns", "recording"):
        with h5py.File(tmp_path / "online.h5") as one, h5py.File(tmp_path / "batch.h5") as two:
            assert (one[name][:] == two[name][:]).all()
    summary = json.loads((tmp_path / "online.h5.summary.json").read_text())
    verdicts = {recording["name"]: recording["verdicts"] for recording in summary["recordings"]}
    assert verdicts["menu.mcap"] == {"menu": 3} and verdicts["play.mcap"] == {"gameplay": 3}
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


def test_the_page_shows_both_sides(tmp_path) -> None:
    folder = made_folder(tmp_path / "in", 1)
    made = MadeRecording(folder, "black")
    made.pixels = np.zeros((100, 64, 64, 3), np.uint8)
    made.write()
    run(folder, tmp_path / "out.h5")
    page = (tmp_path / "out.h5.html").read_text()
    assert "rejected: black" in page and "kept: gameplay" in page
    assert page.count("data:image/jpeg;base64,") == 3 + 4


def test_segments_are_recordings_again(tmp_path) -> None:
    folder = made_folder(tmp_path / "in", 2)
    run(folder, tmp_path / "out.h5", segments=tmp_path / "pieces")
    assert sorted(path.name for path in (tmp_path / "pieces").glob("*.mcap")) == [
        "run0-0001.mcap",
        "run1-0001.mcap",
    ]
    run(tmp_path / "pieces", tmp_path / "again.h5")
    with DatasetFile(tmp_path / "out.h5") as one, DatasetFile(tmp_path / "again.h5") as two:
        np.testing.assert_array_equal(one.action, two.action)
