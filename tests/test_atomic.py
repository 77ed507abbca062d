"""Files that appear whole or not at all."""

import os
import subprocess
import sys

import pytest

from actswm.atomic import write_whole, written_whole


def test_what_the_dead_left_goes_and_what_the_living_write_stays(tmp_path):
    """A temporary file may have one of its own: the journal of a dataset file that is not finished."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = [f".out.h5.{dead.pid}.tmp.h5", f"..out.h5.{dead.pid}.tmp.h5.journal.{dead.pid}.tmp.journal"]
    kept = [f".out.h5.{os.getppid()}.tmp.h5", f".about.h5.{dead.pid}.tmp.h5", "out.h5.tmp"]
    for name in left + kept:
        (tmp_path / name).touch()
    write_whole(tmp_path / "out.h5", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, "out.h5"])


def test_a_block_that_fails_leaves_the_file_as_it_was(tmp_path):
    write_whole(tmp_path / "out.txt", "before")
    with pytest.raises(ZeroDivisionError), written_whole(tmp_path / "out.txt") as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.txt", "before")]
