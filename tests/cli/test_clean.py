"""`actswm clean` and `actswm import` from the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ..made.recordings import MadeRecording


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
        (["--judge", "psychic"], "--judge 'psychic' is unknown; use one of: embedded"),
        (["--judge", "online"], "--judge online needs --judge-model"),
        (["--executor", "threads"], "--executor 'threads' is unknown"),
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
