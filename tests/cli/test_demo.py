"""The first command of a newcomer: all stages, a kill in the middle, and a report at the end."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from actswm.cli.demo import QUICK, _stages

COMMAND = [sys.executable, "-m", "actswm", "demo", "--quick", "--out", "demo"]


@pytest.mark.timeout(900)
def test_demo_goes_on_after_a_kill_and_ends_with_a_report(tmp_path):
    process = subprocess.Popen(COMMAND, cwd=tmp_path, start_new_session=True, stdout=subprocess.DEVNULL)
    while not (tmp_path / "demo" / ".finished" / "record-a-room").exists():
        assert process.poll() is None
        time.sleep(0.1)
    time.sleep(1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()

    result = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "record a room: done before" in result.stdout
    page = (tmp_path / "demo" / "report.html").read_text()
    assert all(
        name in page
        for name in ("lewm-rollout", "contrast", "follow-room", "follow-maze", "data:image/png;base64")
    )
    assert "http://" not in page.replace("http://www.w3.org", "")

    again = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 0 and again.stdout.count("done before") == again.stdout.count("[")

    (tmp_path / "demo" / ".finished" / "look-at-it").unlink()
    partly = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True)
    assert partly.stdout.count("done before") == again.stdout.count("[") - 2, "the stage, and the report anew"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_keeps_what_was_trained_and_says_how_to_go_on(tmp_path, square_file, number):
    folder, marks = tmp_path / "demo", tmp_path / "demo" / ".finished"
    marks.mkdir(parents=True)
    (folder / "room.h5").symlink_to(square_file)
    stages = _stages(replace(QUICK, steps=100_000))
    for title in ("record a room", "look at it"):
        (marks / title.replace(" ", "-")).write_text(stages[title])
    code = (
        "import signal, sys; from dataclasses import replace; from actswm.cli import demo, main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "demo.QUICK = replace(demo.QUICK, steps=100_000)\n"
        "demo.REAL, demo._stages = demo._stages, lambda size: {title: command.replace('small/', 'tiny/') "
        "for title, command in demo.REAL(size).items()}\n"
        "sys.argv = ['actswm', 'demo', '--quick', '--out', 'demo']; main.run()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, start_new_session=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    while not (folder / "own" / "logs" / "metrics.csv").exists():
        assert process.poll() is None
        time.sleep(0.1)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    err = process.communicate(timeout=120)[1]
    assert process.returncode == 130, err
    assert "stopped in stage 3 of 14 (train a small model there); the same command goes on from here" in err
    assert "Traceback" not in err and (folder / "own" / "last.ckpt").exists()


def test_a_stage_that_fails_ends_the_demo(tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "room.h5").write_bytes(b"no recording")
    result = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 2 and "room.h5" in result.stderr and "report" not in result.stdout
