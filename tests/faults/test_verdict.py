"""The judge of the cases sees what it should: a harness that finds nothing must not be one that cannot."""

from __future__ import annotations

import h5py
import pytest

from .commands import Command
from .fuzz import fuzz
from .kinds import Kind
from .running import Outcome
from .verdict import Verdict, verdict_of

TRACE = "Traceback (most recent call last):\n  File ...\nValueError: x\n"


@pytest.mark.parametrize(
    ("code", "hung", "err", "verdict"),
    [
        (0, False, "", Verdict.ACCEPTED),
        (2, False, "actswm: x.h5: no such dataset file\n", Verdict.REFUSED),
        (1, False, "failed: x.mcap: no video\nfailed: y.mcap: no video\n", Verdict.REFUSED),
        (2, False, "actswm: one\nactswm: two\n", Verdict.UNCLEAR),
        (1, False, "", Verdict.UNCLEAR),
        (1, False, TRACE, Verdict.TRACEBACK),
        (0, False, f"a worker: {TRACE}", Verdict.TRACEBACK),
        (70, False, "actswm: this is a bug\n", Verdict.TRACEBACK),
        (-11, False, "", Verdict.CRASH),
        (-9, True, "", Verdict.HANG),
    ],
)
def test_verdicts(code: int, hung: bool, err: str, verdict: Verdict) -> None:
    assert verdict_of(Outcome((), code, hung, "", err, 0.0)) is verdict


def test_a_command_without_end_is_a_hang(server, sound) -> None:
    played = server.run(["play", "freedoom/room", "--size", 32], sound, seconds=4)
    assert verdict_of(played) is Verdict.HANG
    ended = server.run(["play", "freedoom/room", "--size", 32], sound, until="Ctrl+C ends")
    assert verdict_of(ended) is Verdict.ACCEPTED


def test_an_invalid_file_that_is_taken_is_laundered(server, sound, tmp_path) -> None:
    def spoil(folder, rng) -> str:
        with h5py.File(folder / "room.h5", "r+") as file:
            file["ep_offset"][1] = 0
        return "ep_offset[1] = 0"

    listing = Command("tasks", "tasks list")  # it does not read the file, so it cannot refuse it
    kind = Kind("spoilt", 1, ("room.h5",), spoil, (listing,), "room.h5")
    first, second = fuzz(server, sound, tmp_path, 2, 0, [(kind, 0)])
    assert (first.verdict, second.verdict) == (Verdict.REFUSED, Verdict.LAUNDERED)
