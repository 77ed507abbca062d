"""The diagnosis commands as a user runs them, on a real game."""

import contextlib
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import cv2
import h5py
import pytest

from actswm.data import DatasetFile, validate
from actswm.games.episodes import RecordingPlan
from actswm.games.recording import record
from actswm.training import load_config, train

from ..games.leftovers import eventually


def actswm(*arguments, code=0):
    result = subprocess.run(
        [sys.executable, "-m", "actswm", *map(str, arguments)], capture_output=True, text=True
    )
    assert result.returncode == code, result.stderr
    return result


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """A short recording of the real game, and a model that has barely seen it."""
    folder = tmp_path_factory.mktemp("room")
    plan = RecordingPlan("freedoom/room", size=(32, 32), episode_steps=120)
    record(plan, 480, folder / "room.h5")
    config = load_config("tiny/lewm-rollout", ["training.steps=8", "training.threads=1"])
    train(config, folder / "room.h5", folder / "run")
    return folder


def test_drift(room, tmp_path):
    options = ["--data", room / "room.h5", "--windows", 12, "--context", 6, "--horizon", 4]
    outputs = ["--json", tmp_path / "d.json", "--csv", tmp_path / "d.csv", "--plot", tmp_path / "d.png"]
    result = actswm("drift", room / "run", *options, *outputs, "--controls", "--bound")
    assert "windows come from one episode" in result.stderr
    assert "run: cosine to the encoded future" in result.stdout and "Turn_L" in result.stdout
    stored = json.loads((tmp_path / "d.json").read_text())
    assert stored["windows"] == 12 and len(stored["models"][0]["steps"]) == 4
    assert [
        control["control"] for control in stored["models"][0]["controls"]
    ] == "W A S D Turn_L Turn_R".split()
    assert stored["models"][0]["bound"]["encoded"]["product"]["violations"] == 0
    with open(tmp_path / "d.csv") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[3]["zero_gap_mean"]) == pytest.approx(
        stored["models"][0]["steps"][3]["zero_gap"]["mean"], abs=1e-5
    )
    assert cv2.imread(str(tmp_path / "d.png")).shape[1] > 600

    again = actswm("drift", room / "run", *options, "--controls", "--bound", "--expect", tmp_path / "d.json")
    assert "come out again within 0.01" in again.stdout
    stored["models"][0]["steps"][2]["copy"]["mean"] += 0.05
    (tmp_path / "wrong.json").write_text(json.dumps(stored))
    wrong = actswm(
        "drift", room / "run", *options, "--controls", "--bound", "--expect", tmp_path / "wrong.json", code=1
    )
    assert "models.0.steps.2.copy.mean" in wrong.stderr


def test_fidelity_and_sheet_share_their_futures(room, tmp_path):
    options = ["--data", room / "room.h5", "--windows", 3, "--context", 6, "--horizon", 4, "--workers", 1]
    result = actswm("fidelity", room / "run", *options, "--json", tmp_path / "f.json")
    assert "predictions of 8 true futures" in result.stdout
    kept = list(room.glob("room.futures-*.h5"))
    assert len(kept) == 1
    rendered = kept[0].stat().st_mtime_ns, kept[0].read_bytes()
    stored = json.loads((tmp_path / "f.json").read_text())
    steps = stored["models"][0]["steps"]
    assert {step["kind"] for step in steps} == {"all", "recorded", "zero", "shuffled", "edited", "random"}
    assert all(0 <= step["top1"]["mean"] <= 1 for step in steps)
    drawn = actswm("sheet", room / "run", *options, "--gallery", 50, "--out", tmp_path / "s.png")
    with DatasetFile(kept[0]) as file:
        frames = file.pixels[:].reshape(3, 8, 5, *file.pixels.shape[1:])
    assert f"8 futures of window {frames.std(1).mean((1, 2, 3, 4)).argmax()}" in drawn.stdout
    other = actswm(
        "sheet", room / "run", *options, "--window", 1, "--gallery", 50, "--out", tmp_path / "1.png"
    )
    assert "8 futures of window 1" in other.stdout
    assert cv2.imread(str(tmp_path / "s.png")).shape[0] > 1000
    assert kept[0].read_bytes() == rendered[1]


def test_poses_of_another_form_are_refused_and_can_be_done_without(room, tmp_path):
    damaged = tmp_path / "room.h5"
    shutil.copy(room / "room.h5", damaged)
    with h5py.File(damaged, "r+") as file:
        rows = len(file["pose"])
        del file["pose"]
        file["pose"] = [True] * rows
    options = ["--data", damaged, "--split", "all", "--windows", 2, "--context", 4, "--horizon", 2]
    refused = actswm("fidelity", room / "run", *options, code=2)
    assert "'pose' is not x, y, z, yaw, pitch of every frame" in refused.stderr
    actswm("fidelity", room / "run", *options, "--gallery", 0)


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_rendering_leaves_no_process_and_goes_on(room, tmp_path, blow):
    """Ctrl+C reaches the whole group, as in a terminal; a kill only the command itself."""
    truths = tmp_path / "truths.h5"
    options = [
        "--data",
        room / "room.h5",
        "--windows",
        20,
        "--context",
        6,
        "--horizon",
        4,
        "--truths",
        truths,
    ]
    command = [sys.executable, "-m", "actswm", "fidelity", room / "run", *options]
    process = subprocess.Popen(list(map(str, command)), start_new_session=True, stderr=subprocess.DEVNULL)
    assert eventually(lambda: truths.exists() and futures_in(truths) > 0)
    if blow == signal.SIGINT:
        os.killpg(process.pid, blow)
    else:
        process.kill()
    assert process.wait(60) == (130 if blow == signal.SIGINT else -signal.SIGKILL)
    assert eventually(lambda: not group(process.pid))
    validate(truths)
    before = futures_in(truths)
    actswm(*command[3:])
    assert 0 < before < futures_in(truths) == 20 * 8


def futures_in(path):
    """Futures in the file, readable while it is written."""
    with h5py.File(path, "r") as file:
        return len(file["ep_len"])


def group(leader):
    """Processes of a group that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, of = stat.read_text().rpartition(")")[2].split()[:3]
            if int(of) == leader and state != "Z":
                found.append(stat.parent.name)
    return found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["drift", "nowhere"], "not a saved model"),
        (["drift", "RUN", "--split", "exam"], "'exam' is not one of 'train', 'validation'"),
        (["drift", "RUN", "--horizon", "500"], "no valid window"),
        (["sheet", "RUN", "--window", "99", "--context", "6", "--horizon", "4"], "--window 99"),
    ],
)
def test_wrong_arguments_end_in_one_line(room, arguments, message):
    words = [str(room / "run") if word == "RUN" else word for word in arguments]
    result = actswm(*words, "--data", room / "room.h5", code=2)
    assert message in result.stderr and result.stderr.count("\n") == 1
