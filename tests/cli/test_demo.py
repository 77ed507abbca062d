"""The first command of a newcomer: all stages, a kill in the middle, and a report at the end."""

import os
import signal
import subprocess
import sys
import time

import pytest

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
        for name in ("lewm-rollout", "actswm-plus", "follow-room", "follow-maze", "data:image/png;base64")
    )
    assert "http://" not in page.replace("http://www.w3.org", "")

    again = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 0 and again.stdout.count("done before") == again.stdout.count("[")

    (tmp_path / "demo" / ".finished" / "look-at-it").unlink()
    partly = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True)
    assert partly.stdout.count("done before") == again.stdout.count("[") - 2, "the stage, and the report anew"


def test_a_stage_that_fails_ends_the_demo(tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "room.h5").write_bytes(b"no recording")
    result = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 2 and "room.h5" in result.stderr and "report" not in result.stdout
