"""The small size of `make faults`: every command that can go on, killed once and run again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from .kills import SIGNALS, TARGETS, KeptKills, Kill, Target, kill, kills, undisturbed
from .marked import MARK, orphans

MERGE = next(target for target in TARGETS if target.name == "merge")
pytestmark = pytest.mark.timeout(900)  # a busy machine is slow, and the first test makes all inputs


@pytest.mark.parametrize(
    ("number", "target"), list(enumerate(TARGETS)), ids=[target.name.replace(" ", "") for target in TARGETS]
)
def test_a_killed_command_goes_on(number: int, target: Target, server, sound, tmp_path) -> None:
    expected = undisturbed(target, server, tmp_path / "undisturbed", sound)
    sent = SIGNALS[number % len(SIGNALS)]
    done = kill(target, sent, expected, number, 15, server, tmp_path / "killed", sound)
    assert done.fine, done


def test_a_run_that_was_cut_goes_on_where_it_was(server, sound, tmp_path) -> None:
    def run(commit: str, rounds: int) -> tuple[list[Kill], list[str]]:
        kept = KeptKills(tmp_path / "kills.jsonl", 15, commit)
        met = list(kills(range(rounds), 15, server, sound, tmp_path, (MERGE,), kept))
        return met, (tmp_path / "kills.jsonl").read_text().splitlines()

    first, lines = run("a", 1)
    assert [each.signal for each in first] == [sent.name for sent in SIGNALS] and len(lines) == 3
    (tmp_path / "kills.jsonl").write_text("\n".join(lines) + '\n{"seed": 1')  # the machine went away
    second, more = run("a", 2)
    assert second[:3] == first and len(second) == 6
    assert more[:3] == lines and len(more) == 3 + 1 + 3
    assert not KeptKills(tmp_path / "kills.jsonl", 15, "b").found
    assert not KeptKills(tmp_path / "kills.jsonl", 16, "a").found


def test_what_is_not_as_it_should_be_is_a_fault(server, sound, tmp_path) -> None:
    usual = undisturbed(MERGE, server, tmp_path / "undisturbed", sound)
    other = replace(usual, content=usual.content | {"@fps": "1"}, files=frozenset())
    done = kill(MERGE, signal.SIGKILL, other, 0, 15, server, tmp_path / "killed", sound)
    assert not done.fine and not done.equal and done.fault == "differs in @fps"
    assert done.leftovers == ("out.h5",)


def test_a_process_that_detached_is_an_orphan() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with subprocess.Popen(command, env={**os.environ, MARK: "detached"}, start_new_session=True) as process:
        assert orphans("detached", 0) == 1
        assert process.wait(60) == -signal.SIGKILL
    assert orphans("detached", 0) == 0
