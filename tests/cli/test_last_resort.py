"""What nobody foresaw: one line, exit code 70 for our own faults, and the details in a file."""

import errno
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from actswm.cli import main


def end_of_run(monkeypatch, capsys, tmp_path, error):
    def broken():
        raise error

    monkeypatch.setattr(main, "app", broken)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(SystemExit) as end:
        main.run()
    return end.value.code, capsys.readouterr().err


def test_a_bug_says_so_and_where_the_details_are(monkeypatch, capsys, tmp_path):
    code, err = end_of_run(monkeypatch, capsys, tmp_path, ZeroDivisionError("by \x1b[2Jzero"))
    assert code == 70 and len(err.splitlines()) == 1
    assert "this is a bug" in err and r"by \x1b[2Jzero" in err
    details = Path(re.search(r"details in (\S+)", err)[1])
    assert details.parent == tmp_path and "Traceback" in details.read_text()


def test_a_bug_without_room_for_its_details_shows_them(monkeypatch, capsys, tmp_path):
    code, err = end_of_run(monkeypatch, capsys, tmp_path / "absent", ZeroDivisionError("by zero"))
    assert code == 70 and len(err.splitlines()) == 1 and "Traceback" in err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_file_system_that_refuses_is_no_bug(monkeypatch, capsys, tmp_path, number):
    code, err = end_of_run(monkeypatch, capsys, tmp_path, OSError(number, os.strerror(number), "out.h5"))
    assert code == 2 and err.startswith(f"actswm: out.h5: {os.strerror(number)}; ")
    assert not list(tmp_path.iterdir())


def test_waiting_threads_sleep():
    """libgomp itself says how its threads wait; it decides when a command first imports torch."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    command = "from actswm.cli import main; main.app = lambda: __import__('torch'); main.run()"
    done = subprocess.run(
        [sys.executable, "-c", command],
        capture_output=True, text=True, env={**environment, "OMP_DISPLAY_ENV": "true"},
    )  # fmt: skip
    assert "OMP_WAIT_POLICY = 'PASSIVE'" in done.stderr


def test_ctrl_c_after_the_end_is_no_traceback():
    program = (
        "import atexit, os, signal, sys\n"
        "from actswm.cli.main import run\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGINT)\n"
        "sys.argv = ['actswm', '--help']\n"
        "run()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def test_ctrl_c_in_the_clearing_up_of_an_object_is_heard():
    """What is raised there, nobody can catch: Python shows a traceback and goes on as if nothing had been pressed."""
    program = (
        "import os, signal, time\n"
        "from actswm.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Object:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(1)\n"
        "def app():\n"
        "    Object()\n"
        "    time.sleep(60)\n"
        "    print('went on')\n"
        "main.app = app\n"
        "main.run()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "actswm: interrupted\n")
