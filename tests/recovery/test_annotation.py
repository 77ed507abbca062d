import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import h5py
import numpy as np
import pytest
import torch

from actswm.data import DatasetFile, validate
from actswm.errors import UserError
from actswm.formats.owamcap import read_recording
from actswm.formats.video import MS, VideoWriter
from actswm.model import Context
from actswm.processes import only_run
from actswm.recovery.annotation import AnnotationJob, annotate, content_key
from actswm.recovery.labelling import label_frames
from actswm.recovery.owamcap_scoring import score_owamcap
from actswm.recovery.prior import made_prior
from actswm.recovery.protocol import RecoveryOptions
from actswm.recovery.search import RecoverySettings, StepwiseSearch, recover
from actswm.recovery.video_source import VideoSource

from ..model.small_models import disturbed, small_config
from .worlds import MadeWorld, key_presses, made_pool

QUICK = RecoveryOptions(RecoverySettings(32, 8, 2), target="every-step")


def made_video(path: Path, frames: int, seed: int = 0, step_ms: int = 50) -> Path:
    pictures = np.random.default_rng(seed).integers(0, 255, (frames, 48, 64, 3), dtype=np.uint8)
    with VideoWriter(path, height=48, width=64, fps=Fraction(1000, step_ms)) as writer:
        for number, picture in enumerate(pictures):
            writer.add(picture, number * step_ms * MS)
    return path


def audio_only(path: Path) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44100)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 4096), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 44100
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    model = disturbed(small_config(context=3, encoding="sliding"))
    return model.save_pretrained(tmp_path_factory.mktemp("run") / "model", {"data": {"source": "made"}})


def test_labels_are_the_invertible_worlds_own():
    """A 'video' whose latents were made by known key presses gives those presses back."""
    world, true = MadeWorld(), key_presses(np.random.default_rng(4), 6)
    latents = torch.cat([torch.zeros(1, 14), (torch.from_numpy(true) @ world.effect).cumsum(0)])
    world.encode = lambda pixels: latents[(pixels[0, :, 0, 0, 0] // 4).long()][None]
    frames = [np.full((32, 32, 3), row, np.uint8) for row in range(27)]  # 6 steps and 2 frames too many
    search = StepwiseSearch(world, made_pool(), RecoverySettings(), torch.Generator().manual_seed(0))
    rows = list(label_frames(search, frames))
    action = np.concatenate([part.action for part in rows])
    assert np.array_equal(action[:24], np.repeat(true, 4, 0)) and not action[24:].any()
    assert [int(p[0, 0, 0]) for part in rows for p in part.pixels] == list(range(25))
    assert rows[0].gain.min() > 0.5 and rows[-1].gain.max() == 0


def test_streaming_equals_recovery_of_the_whole_video():
    model = disturbed(small_config(context=3, encoding="sliding"))
    pixels = torch.randint(0, 255, (21, 16, 16, 3), dtype=torch.uint8)

    def search():
        return StepwiseSearch(model, made_pool(), QUICK.search, torch.Generator().manual_seed(1))

    streamed = np.concatenate([part.score for part in label_frames(search(), list(pixels.numpy()), window=2)])
    with torch.no_grad():
        latents = model.encode(pixels[None, ::4])
        context = Context(latents[:, :1].expand(-1, 3, -1), torch.zeros(1, 5, 14))
        whole = recover(search(), context, latents[0, 1:], window=2, observed=latents[0, 1:])
    assert np.allclose(streamed[:-1:4], whole.actions.numpy(), atol=1e-4)


def test_good_and_bad_videos_together(tmp_path, checkpoint):
    good = [made_video(tmp_path / f"good{i}.mkv", 18 + i, seed=i) for i in range(2)]
    empty, broken = tmp_path / "empty.mp4", tmp_path / "broken.mp4"
    empty.touch()
    broken.write_bytes(os.urandom(5000))
    bad = [
        empty,
        broken,
        audio_only(tmp_path / "sound.m4a"),
        made_video(tmp_path / "short.mkv", 4),
        tmp_path / "no",
    ]
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(good[0].read_bytes()[:700])
    out = tmp_path / "out.h5"
    job = AnnotationJob(checkpoint, QUICK, owamcap=tmp_path / "mcap")
    report = annotate([bad[0], good[0], *bad[1:], cut, good[1]], out, job)
    assert [video.name for video in report.annotated] == ["good0.mkv", "good1.mkv"]
    assert {failure.name for failure in report.failures} == {path.name for path in [*bad, cut]}
    assert all(failure.name in failure.message for failure in report.failures)
    validate(out)
    with DatasetFile(out) as file:
        assert file.num_episodes == 2 and file.ep_len.tolist() == [17, 17] and file.fps == 20
        assert file.action_origin.startswith("recovered by") and "trained on made" in file.action_origin
        assert (
            file.attributes["vocabulary"] == "keys14" and file.attributes["search"]["target"] == "every-step"
        )
        assert file.column("video")[0] == b"good0.mkv"
        assert np.array_equal(file.action, (file.column("score") > 0.5).astype(np.float32))
        gain = file.column("gain")
        assert (gain >= 0).all() and (gain <= 1).all()
        assert "confidence" not in file.extra_columns, "that is a promise, and no calibration backs it"
    assert not list(tmp_path.glob("*.work")) and not list(tmp_path.glob(".*"))
    [first] = sorted((tmp_path / "mcap").glob("good0-*.mcap"))
    assert len(read_recording(first).screen_pts_ns) == 17
    same = score_owamcap(first, first, small_config().action_encoding, window=2)
    assert same.key_accuracy.mean == 1


def test_a_second_run_does_only_what_is_missing(tmp_path, checkpoint):
    videos = [made_video(tmp_path / f"v{i}.mkv", 10, seed=i) for i in range(3)]
    out, job = tmp_path / "out.h5", AnnotationJob(checkpoint, QUICK)
    annotate(videos[:2], out, job)
    before = out.read_bytes()
    again = annotate(videos[:2], out, job)
    assert again.known == 2 and not again.annotated and out.read_bytes() == before
    moved = videos[0].rename(tmp_path / "renamed.mkv")
    more = annotate([moved, videos[2]], out, job)
    assert more.known == 1 and [video.name for video in more.annotated] == ["v2.mkv"]
    validate(out)
    with pytest.raises(UserError, match="another search"):
        annotate(
            videos[2:],
            out,
            AnnotationJob(checkpoint, RecoveryOptions(RecoverySettings(16, 4, 1), target="joint")),
        )


def test_a_file_of_an_earlier_version_opens_but_is_not_continued(tmp_path, checkpoint):
    videos = [made_video(tmp_path / f"v{i}.mkv", 10, seed=i) for i in range(2)]
    out, job = tmp_path / "out.h5", AnnotationJob(checkpoint, QUICK)
    annotate(videos[:1], out, job)
    with h5py.File(out, "r+") as file:
        file.move("gain", "confidence")
    validate(out)
    with DatasetFile(out) as old:
        assert len(old.column("confidence")) == old.num_frames
    with pytest.raises(UserError, match="another version"):
        annotate(videos, out, job)


def test_processes_give_what_one_gives(tmp_path, checkpoint):
    """Episodes too come in the order of the videos, though the first takes longest."""
    videos = [made_video(tmp_path / f"v{i}.mkv", length, seed=i) for i, length in enumerate((60, 10, 10))]
    job = AnnotationJob(checkpoint, QUICK, threads=1)
    annotate(videos, tmp_path / "one.h5", job)
    annotate(videos, tmp_path / "two.h5", job, workers=2)
    annotate(videos, tmp_path / "two.h5", job, workers=2)  # nothing left to do
    with only_run(tmp_path / "two.h5.work"), pytest.raises(UserError, match="another run is at work"):
        annotate(videos, tmp_path / "two.h5", job)
    with DatasetFile(tmp_path / "one.h5") as one, DatasetFile(tmp_path / "two.h5") as two:
        assert np.array_equal(one.column("video_key")[:], two.column("video_key")[:])
        assert np.array_equal(one.action[:], two.action[:])


def test_a_video_that_waited_for_its_turn_is_not_done_again(tmp_path, checkpoint):
    video = made_video(tmp_path / "v.mkv", 10)
    out, job = tmp_path / "out.h5", AnnotationJob(checkpoint, QUICK)
    annotate([video], out, job)
    part = tmp_path / "out.h5.work" / f"{content_key(video):016x}.h5"
    part.parent.mkdir()
    out.rename(part)
    with h5py.File(part, "r+") as file:
        file["score"][0] = marked = np.full(file["score"].shape[1], 0.125, np.float32)
    annotate([video], out, job)
    with DatasetFile(out) as file:
        assert np.array_equal(file.column("score")[0], marked)
    part.parent.mkdir()
    out.rename(part)
    annotate([video], out, AnnotationJob(checkpoint, replace(QUICK, seed=7)))
    with DatasetFile(out) as file:
        assert not np.array_equal(file.column("score")[0], marked)


def test_a_killed_run_goes_on(tmp_path, checkpoint):
    videos = [made_video(tmp_path / f"v{i}.mkv", 22, seed=i) for i in range(3)]
    out = tmp_path / "out.h5"
    arguments = [str(checkpoint), *map(str, videos), "--out", str(out), "--target", "every-step"]
    command = [sys.executable, "-m", "actswm", "annotate", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    until, begun = time.monotonic() + 120, set()
    while len(begun) < 2 and process.poll() is None and time.monotonic() < until:  # the second video is begun
        begun |= {path.name.lstrip(".")[:16] for path in tmp_path.glob("out.h5.work/.*.tmp")}
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "before" in done.stdout
    validate(out)
    with DatasetFile(out) as file:
        assert file.num_episodes == 3 and len(np.unique(file.column("video_key"))) == 3
    assert not (tmp_path / "out.h5.work").exists()


def test_resampling_keeps_time(tmp_path):
    source = VideoSource.open(made_video(tmp_path / "v.mkv", 30))
    assert source.fps == 20 and source.frames == 30
    assert len(list(source.read(16, 20.0))) == 30
    assert abs(len(list(source.read(16, 10.0))) - 15) <= 1
    assert abs(len(list(source.read(16, 35.0))) - round(1.5 * 35)) <= 2


@pytest.mark.parametrize("data", ["a word", {"attributes": [1]}, {"attributes": {"effective": [["W"], 5]}}])
def test_a_model_that_says_nonsense_of_its_data_labels_all_controls(tmp_path, data):
    model = disturbed(small_config(context=3, encoding="sliding"))
    said = model.save_pretrained(tmp_path / "model", {"data": data})
    report = annotate([made_video(tmp_path / "v.mkv", 24)], tmp_path / "out.h5", AnnotationJob(said, QUICK))
    assert not report.failures


def test_provenance_goes_into_the_file(tmp_path, checkpoint):
    video = made_video(tmp_path / "clip.mkv", 12)
    told = {"url": "https://example.org/v", "licence": "Creative Commons", "start_s": 3.0, "title": "é" * 900}
    out = tmp_path / "out.h5"
    report = annotate([video], out, AnnotationJob(checkpoint, QUICK), provenance={video: told})
    assert not report.failures
    with DatasetFile(out) as file:
        [stored] = set(file.column("provenance").tolist())
    kept = json.loads(stored)
    assert kept["url"] == told["url"] and kept["start_s"] == 3.0 and kept["licence"] == "Creative Commons"
    assert told["title"].startswith(kept["title"])
    again = annotate([video], out, AnnotationJob(checkpoint, QUICK), provenance={video: told})
    assert again.known == 1 and not again.annotated


def test_the_far_target_is_not_for_annotation(tmp_path, checkpoint):
    with pytest.raises(UserError, match="every-step or joint"):
        annotate([], tmp_path / "out.h5", AnnotationJob(checkpoint, RecoveryOptions()))


def test_controls_without_effect_in_the_models_world_are_not_guessed():
    encoding = small_config().action_encoding
    prior = made_prior(encoding, np.ones(14), effective=("W", "Turn_L"))
    assert set(np.flatnonzero(prior.pool.any(0))) == {0, 10}
