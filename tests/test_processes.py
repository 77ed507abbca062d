from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from actswm.errors import UserError
from actswm.processes import interrupts_held_back, only_run, starting_workers

from .games.leftovers import eventually

ROOT = Path(__file__).parent.parent


def test_an_interrupt_waits_for_the_end_of_the_block():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_held_back():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
        done.append(True)
    assert done
    with pytest.raises(KeyboardInterrupt):  # and works as before
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)


def test_an_interrupt_waits_beside_other_threads():
    """Another thread takes the signal, this one must not see it."""
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    done = []
    try:
        with pytest.raises(KeyboardInterrupt), interrupts_held_back():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            done.append(True)
    finally:
        over.set()
        other.join()
    assert done


def _interrupt_yourself(answer) -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.05)
    answer.put("alive")


def test_workers_never_hear_of_it():
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=_interrupt_yourself, args=(answer,))
    with starting_workers():
        process.start()
    assert answer.get(timeout=60) == "alive"
    process.join()


POOL = """
import os, sys, time
from actswm.executor import run_tasks
def work(folder):
    open(os.path.join(folder, str(os.getpid())), "w").close()
    time.sleep(600)
"""
RUN = "import sys; from pool import run_tasks, work; list(run_tasks(work, sys.argv[1:] * 2, 2))"


def test_workers_die_with_their_parent(tmp_path: Path):
    (tmp_path / "pool.py").write_text(POOL)
    (tmp_path / "at").mkdir()
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    parent = subprocess.Popen(
        [sys.executable, "-c", RUN, tmp_path / "at"], env={**os.environ, "PYTHONPATH": path}
    )
    assert eventually(lambda: len(list((tmp_path / "at").iterdir())) == 2, 60)
    parent.kill()
    parent.wait()
    workers = [int(entry.name) for entry in (tmp_path / "at").iterdir()]
    assert eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


TRIED = """
import sys, tempfile
from actswm.executor import run_tasks
def folder(_):
    def tried():
        raise AssertionError("tried out with a file")
    tempfile._get_default_tempdir = tried
    return tempfile.gettempdir()
"""
COMMAND = """
import sys, folders
from actswm.cli import main
main.app = lambda: print(folders.folder(0))
main.run()
print(*(found for _, found in folders.run_tasks(folders.folder, [0, 1], 2)))
"""


def test_no_process_tries_its_temporary_folder_out(tmp_path: Path):
    """Python does, with a file that a kill at this moment leaves there."""
    (tmp_path / "folders.py").write_text(TRIED)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    missing = {"TMPDIR": str(tmp_path / "missing"), "TEMP": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", COMMAND],
        env={**os.environ, "PYTHONPATH": path, **missing},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == [str(tmp_path)] * 3


def test_one_run_at_a_time(tmp_path: Path):
    folder = tmp_path / "out.work"
    with only_run(folder):
        with pytest.raises(UserError, match=r"out.work: another run is at work"), only_run(folder):
            pass
        assert folder.exists()
    assert not folder.exists()  # nothing to go on from
    with only_run(folder):
        (folder / "part").write_text("half")
    with only_run(folder):
        assert (folder / "part").exists()


def test_a_second_training_into_one_folder_is_refused(square_file: Path, tmp_path: Path):
    with only_run(tmp_path / "run", ".lock"):
        command = [sys.executable, "-m", "actswm", "train", "tiny/lewm", "--data", square_file]
        second = subprocess.run(
            [*command, "--out", tmp_path / "run", "training.steps=1"], capture_output=True, text=True
        )
    assert second.returncode == 2 and "another run is at work" in second.stderr
    assert second.stderr.count("\n") == 1


def test_the_tests_work_where_ctrl_c_is_ignored():
    """As in the background of a shell."""
    program = """import signal, sys, pytest
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.exit(pytest.main(sys.argv[1:]))
"""
    test = "tests/data/test_writer.py::test_an_interrupt_waits_for_the_episode_being_written"
    run = subprocess.run(
        [sys.executable, "-c", program, "-p", "no:xdist", "-p", "no:cacheprovider", test],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
