"""`actswm clean` and `actswm import` from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from actswm.data import DatasetFile

from ..made.recordings import MS, MadeRecording


def actswm(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", "from actswm.cli.main import run; run()", *map(str, arguments)]
    return subprocess.run(
        program,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "COLUMNS": "160", **environment},
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--domain", "chess"], "unknown domain 'chess'; known: cs2, gta5, apex, minecraft, games"),
        (["--judge", "online"], "--judge online needs --judge-model"),
        (["--vocabulary", "latin"], "unknown vocabulary 'latin'"),
        (["--key-map", "missing.json"], "missing.json: cannot be read as a JSON key map"),
        (["nowhere"], "nowhere: no such file or folder"),
    ],
)
def test_bad_arguments_end_in_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    path = MadeRecording(tmp_path, frames=20).write()
    result = actswm("clean", path, "--out", tmp_path / "out.h5", *arguments)
    assert result.returncode == 2 and message in result.stderr
    assert result.stderr.startswith("actswm: ") and result.stderr.count("\n") == 1
    assert not (tmp_path / "out.h5").exists() and not (tmp_path / "out.h5.work").exists()


@pytest.mark.parametrize("arguments", [("--judge", "psychic"), ("--executor", "threads")], ids=" ".join)
def test_a_wrong_choice_is_answered_with_the_known_ones(tmp_path: Path, arguments: tuple[str, str]) -> None:
    result = actswm("clean", tmp_path, "--out", tmp_path / "out.h5", *arguments)
    assert result.returncode == 2 and f"'{arguments[1]}' is not one of" in result.stderr


def test_without_ocr_the_message_names_the_extra(tmp_path: Path) -> None:
    path = MadeRecording(tmp_path).write()
    (tmp_path / "rapidocr.py").write_text("raise ImportError")
    paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    result = actswm("clean", path, "--out", tmp_path / "out.h5", PYTHONPATH=paths)
    assert result.returncode == 2 and result.stderr.count("\n") == 1
    assert "pip install 'actswm[judge]'" in result.stderr and "--judge rules" in result.stderr
    assert (
        actswm("clean", path, "--out", tmp_path / "out.h5", "--judge", "rules", PYTHONPATH=paths).returncode
        == 0
    )


def test_a_key_map_file_and_a_table(tmp_path: Path) -> None:
    path = MadeRecording(tmp_path).key(100, 0x46, True).write()
    (tmp_path / "keys.json").write_text('{"vocabulary": "keys14", "bindings": {"Jump": ["F"]}}')
    result = actswm(
        "clean", path, "--out", tmp_path / "out.h5", "--judge", "none", "--key-map", tmp_path / "keys.json"
    )
    assert result.returncode == 0 and "100 frames" in result.stdout and "1 prefilter" in result.stdout


def test_a_run_that_keeps_nothing_names_the_field_and_fails(tmp_path: Path) -> None:
    made = MadeRecording(tmp_path)
    made.states = False
    for ms in range(0, 2000, 500):
        made.at(ms, "keyboard/state", {"held": []})
    path = made.write()
    for again in ("first", "second"):
        result = actswm("clean", path, "--out", tmp_path / "out.h5", "--judge", "none")
        assert result.returncode == 1, again
        assert "100 of 100 frames dropped as keyboard unreadable" in result.stderr
        assert "keyboard/state: no field 'pressed_vk_list' (4 times)" in result.stderr


def test_a_recorder_that_starts_slowly_is_told_and_labels_go_by_the_others(tmp_path: Path) -> None:
    """All screen messages of one recording come 30 ms late but the first; nothing is wrong with the other one."""
    folder = tmp_path / "in"
    folder.mkdir()
    for name, late_ms in (("slow", 30), ("usual", 0)):
        made = MadeRecording(folder, name).key(235, 0x57, True)
        made.screens = [
            (pts + late_ms * (pts > 0), {"media_ref": {"uri": f"{name}.mkv", "pts_ns": pts * MS}})
            for pts in made.pts_ms
        ]
        made.write()
    out = tmp_path / "out.h5"
    result = actswm("clean", folder, "--out", out, "--judge", "none")
    told = "its first screen message is 30 ms off the clock of the others"
    assert result.returncode == 0 and result.stderr.count("off the clock") == 1
    assert f"note: slow.mcap: {told}" in result.stderr
    summary = json.loads((tmp_path / "out.h5.summary.json").read_text())
    notes = {recording["name"]: " ".join(recording["notes"]) for recording in summary["recordings"]}
    assert told in notes["slow.mcap"] and "median of" in notes["slow.mcap"] and not notes["usual.mcap"]
    assert told in (tmp_path / "out.h5.html").read_text()
    with DatasetFile(out) as file:
        first = [int(np.flatnonzero(file.action[rows, 0])[0]) for rows in (slice(0, 100), slice(100, None))]
    assert first == [10, 11]


def test_a_second_run_with_workers_has_nothing_to_do(tmp_path: Path) -> None:
    for number in range(2):
        MadeRecording(tmp_path, f"run{number}").write()
    arguments = ("clean", tmp_path, "--out", tmp_path / "out.h5", "--judge", "none", "--workers", 2)
    assert actswm(*arguments).returncode == 0
    result = actswm(*arguments)
    assert result.returncode == 0 and "2 recordings were done before" in result.stdout


def test_ctrl_c_stops_the_workers_and_the_next_run_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(6):
        MadeRecording(folder, f"run{number}", frames=400).write()
    arguments = [
        "clean",
        folder,
        "--out",
        tmp_path / "out.h5",
        "--judge",
        "rules",
        "--size",
        "48",
        "--workers",
        "2",
    ]
    program = [sys.executable, "-c", "from actswm.cli.main import run; run()", *map(str, arguments)]
    process = subprocess.Popen(program, stderr=subprocess.PIPE, text=True, start_new_session=True)
    work = tmp_path / "out.h5.work"
    while not list(work.glob("[!.]*.json")):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in errors
    with pytest.raises(ProcessLookupError):
        for _ in range(200):  # the last processes of the pool leave a moment after it
            os.killpg(process.pid, 0)
            time.sleep(0.05)
    assert not (tmp_path / "out.h5").exists()
    result = actswm(*arguments)
    assert result.returncode == 0 and "were done before" in result.stdout


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_at_any_moment_ends_in_one_line(tmp_path: Path, workers: int) -> None:
    """In the middle of an episode, and while workers are still importing."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(2):
        MadeRecording(folder, f"run{number}", frames=400).write()
    arguments = ("clean", folder, "--judge", "rules", "--size", 48, "--workers", workers)
    for moment in ("lock", ".*.tmp*"):
        out = tmp_path / f"{moment.strip('.*')}.h5"
        program = [sys.executable, "-c", "from actswm.cli.main import run; run()", *map(str, arguments)]
        process = subprocess.Popen(
            [*program, "--out", str(out)], stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        work = out.with_name(f"{out.name}.work")
        # An episode is under way when its part has grown beyond the first frames.
        while not any(moment == "lock" or file.stat().st_size > 2**20 for file in work.glob(moment)):
            assert process.poll() is None
            time.sleep(0.002)
        if workers == 2 and moment == "lock":
            while not _children(process.pid):
                time.sleep(0.002)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130, errors
        assert "Traceback" not in errors and "ignored" not in errors, errors
        assert not list(work.glob(".*.tmp*"))


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
