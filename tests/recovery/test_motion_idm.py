from fractions import Fraction

import h5py
import numpy as np
import pytest

from actswm.controls import KEYS14
from actswm.data import DatasetFile, DatasetSpec, DatasetWriter, sample_windows, validate
from actswm.errors import UserError
from actswm.formats.video import MS, VideoWriter
from actswm.recovery.annotation import annotate
from actswm.recovery.idm import IdmConfig, InverseDynamics
from actswm.recovery.idm_annotation import IdmJob
from actswm.recovery.idm_report import report_on
from actswm.recovery.idm_training import IdmTraining
from actswm.recovery.metrics import score
from actswm.recovery.motion import MotionMeter
from actswm.recovery.motion_idm import MotionIdmConfig
from actswm.recovery.motion_labelling import label_motion
from actswm.recovery.motion_training import train_motion_idm
from actswm.recovery.relabelling import relabel
from actswm.recovery.saved_idm import load_idm, load_motion_idm
from actswm.recovery.windows import truth_of

from .panning import SIZE, panning_episode, panorama, write_panning_file

CONFIG = MotionIdmConfig(image_size=SIZE, cells=4, width=32, dilations=[1, 2])


@pytest.fixture(scope="module")
def panning(tmp_path_factory):
    return write_panning_file(tmp_path_factory.mktemp("panning") / "panning.h5")


@pytest.fixture(scope="module")
def trained(panning):
    return train_motion_idm(panning, CONFIG, IdmTraining(150, 16, 4e-3))


@pytest.fixture(scope="module")
def folder(trained, tmp_path_factory):
    trained[0].save(tmp_path_factory.mktemp("idm"), {"seed": 1})
    return tmp_path_factory.getbasetemp() / "idm0"


def made_video(path, frames):
    with VideoWriter(path, height=SIZE, width=SIZE, fps=Fraction(20)) as writer:
        for number, picture in enumerate(frames):
            writer.add(picture, number * 50 * MS)
    return path


def test_it_reads_motion_off_another_recording(trained, tmp_path):
    model, scores = trained
    assert scores.balanced_accuracy.mean > 0.85
    fresh = write_panning_file(tmp_path / "fresh.h5", episodes=6, seed=9)
    report = report_on(model, fresh, [fresh])
    assert report.steps.balanced_accuracy.mean > 0.85 and report.raw.f1.mean > 0.8
    assert report.steps.balanced_accuracy.low < report.steps.balanced_accuracy.mean
    assert {one.name for one in report.reliability} == {"Turn_L", "Turn_R", "Look_U", "Look_D"}
    assert report.calibration_error < 0.06
    made = {name: auroc for name, auroc in report.separations.items() if name != "fresh"}
    assert len(made) == 4 and min(made.values()) > 0.95
    assert 0.4 < report.separations["fresh"] < 0.6, "its own game is not told from itself"


def test_recovered_windows_agree_with_what_was_pressed(trained, panning):
    model, _ = trained
    sample = sample_windows(panning, 10, horizon=8, context=4, split="test")
    truth = truth_of(sample, model.encoding)
    guessed = model.predict(sample)
    assert guessed.shape == truth.actions.shape
    assert score(guessed, truth.actions, model.encoding.vocabulary).balanced_accuracy.mean > 0.8


def test_a_stream_is_labelled_as_if_it_had_been_seen_whole(trained):
    model, _ = trained
    pixels, _ = panning_episode(np.random.default_rng(3), 230, panorama())
    rows = list(label_motion(model, pixels, block=37))
    whole = model.label(MotionMeter(model.grid).measure(pixels))
    assert len(rows) > 3 and np.array_equal(np.concatenate([part.pixels for part in rows]), pixels)
    for name in ("probability", "action", "confidence", "off_domain"):
        streamed = np.concatenate([getattr(part.labels, name) for part in rows])
        assert np.allclose(streamed[:-1], getattr(whole, name), atol=1e-4), name
    assert not rows[-1].labels.action[-1].any(), "nothing is known of what followed the last frame"


def test_saving_keeps_its_answers(trained, folder):
    model = trained[0]
    motion = MotionMeter(model.grid).measure(panning_episode(np.random.default_rng(1), 50, panorama())[0])
    mine, loaded = model.label(motion), load_motion_idm(folder).label(motion)
    assert np.array_equal(mine.probability, loaded.probability)
    assert np.array_equal(mine.off_domain, loaded.off_domain)


def test_annotation_says_how_sure_it_is_and_refuses_noise(folder, tmp_path):
    rng = np.random.default_rng(5)
    pixels, action = panning_episode(rng, 200, panorama())
    noise = rng.integers(0, 256, (120, SIZE, SIZE, 3), dtype=np.uint8)
    own = made_video(tmp_path / "own.mkv", pixels)
    mixed = made_video(tmp_path / "mixed.mkv", np.concatenate([pixels, noise]))
    foreign = made_video(tmp_path / "noise.mkv", noise)
    short = made_video(tmp_path / "short.mkv", pixels[:1])
    out = tmp_path / "out.h5"
    report = annotate([own, foreign, mixed, short], out, IdmJob(folder))
    assert [video.name for video in report.annotated] == ["own.mkv", "mixed.mkv"]
    [refused, too_short] = report.failures
    assert "noise.mkv" in refused.message and "--force" in refused.message
    assert "one step needs 2" in too_short.message
    validate(out)
    with DatasetFile(out) as file:
        assert file.ep_len.tolist() == [200, 320] and "inverse dynamics" in file.action_origin
        found, valid = file.action[:199], file.frame_valid.astype(bool)
        confidence, off_domain = file.column("confidence")[:], file.column("off_domain")[:]
        assert file.column("probability").shape == (520, 14)
        assert ((found > 0.5) == (action[:199] > 0.5)).mean() > 0.95
        assert np.array_equal(valid, (confidence >= 0.7) & (off_domain <= 1))
        assert valid[:400].mean() > 0.5 and not valid[440:].any(), "the end of the second video is noise"
    assert report.annotated[1].invalid > 80 and report.annotated[1].off_domain > 80
    forced = annotate([foreign], tmp_path / "forced.h5", IdmJob(folder, 0.0, force=True))
    assert not forced.failures and forced.annotated[0].off_domain > 100
    with DatasetFile(tmp_path / "forced.h5") as file:
        assert file.frame_valid.all() and (file.column("off_domain") > 1).mean() > 0.9
    with pytest.raises(UserError, match="another idm"):
        annotate([foreign], out, IdmJob(folder, 0.9))


def test_a_dataset_file_is_labelled_anew_row_for_row(folder, tmp_path):
    made, rng = write_panning_file(tmp_path / "made.h5", episodes=3, length=120, seed=4), np.random.default_rng(2)
    with h5py.File(made, "r+") as file:
        file["frame_valid"][5:9] = 0
    done = relabel(made, tmp_path / "new.h5", IdmJob(folder, force=True))
    validate(tmp_path / "new.h5")
    with DatasetFile(made) as old, DatasetFile(tmp_path / "new.h5") as new:
        assert new.ep_len.tolist() == old.ep_len.tolist() and np.array_equal(new.pixels[:], old.pixels[:])
        right = (new.action > 0.5) == (old.action > 0.5)
        assert right.mean() > 0.95 and not right.all(), "they are labels, not the recorded keys"
        sure = new.column("confidence") >= 0.7
        assert np.array_equal(new.frame_valid, sure & (old.frame_valid > 0)) and new.frame_valid.sum() > 200
        assert (done.episodes, done.frames, done.invalid) == (3, 360, 360 - new.frame_valid.sum())
        assert "inverse dynamics" in new.action_origin and new.source == old.source
    assert relabel(made, tmp_path / "new.h5", IdmJob(folder, force=True)) == done
    noise = rng.integers(0, 256, (90, SIZE, SIZE, 3), dtype=np.uint8)
    with DatasetWriter(tmp_path / "foreign.h5", DatasetSpec(KEYS14, SIZE, SIZE, fps=20.0, source="made")) as writer:
        writer.append(noise, np.zeros((90, 14), np.float32))
    with pytest.raises(UserError, match=r"foreign.h5, episode 0: .*--force"):
        relabel(tmp_path / "foreign.h5", tmp_path / "refused.h5", IdmJob(folder))


def test_weights_too_large_to_answer_are_told(folder):
    model = load_motion_idm(folder)
    model.enter.weight.data.fill_(3e38)
    with pytest.raises(UserError, match="answers are no numbers"):
        model.answers(np.ones((40, model.grid.size), np.float32))


def test_few_frames_are_enough_to_ask_for(panning):
    model, _ = train_motion_idm(panning, CONFIG, IdmTraining(2, 4), frames=200)
    assert model.in_use.sum() <= 4
    with pytest.raises(UserError, match="no valid window"):
        train_motion_idm(write_panning_file(panning.with_name("tiny.h5"), 3, 3), CONFIG, IdmTraining(2, 4))


def test_the_pair_network_is_known_but_labels_no_video(tmp_path):
    InverseDynamics(IdmConfig(image_size=32, channels=[8], hidden=8)).save(tmp_path, {})
    assert isinstance(load_idm(tmp_path), InverseDynamics)
    with pytest.raises(UserError, match="pair network"):
        load_motion_idm(tmp_path)
