"""The small size of `make faults`: every command that can go on, killed once and run again."""

from __future__ import annotations

import pytest

from .kills import SIGNALS, TARGETS, KeptKills, Kill, Target, kill, kills, undisturbed

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
    one = next(target for target in TARGETS if target.name == "merge")

    def run(commit: str, rounds: int) -> tuple[list[Kill], list[str]]:
        kept = KeptKills(tmp_path / "kills.jsonl", 15, commit)
        met = list(kills(range(rounds), 15, server, sound, tmp_path, (one,), kept))
        return met, (tmp_path / "kills.jsonl").read_text().splitlines()

    first, lines = run("a", 1)
    assert [each.signal for each in first] == [sent.name for sent in SIGNALS] and len(lines) == 3
    (tmp_path / "kills.jsonl").write_text("\n".join(lines) + '\n{"seed": 1')  # the machine went away
    second, more = run("a", 2)
    assert second[:3] == first and len(second) == 6
    assert more[:3] == lines and len(more) == 3 + 1 + 3
    assert not KeptKills(tmp_path / "kills.jsonl", 15, "b").found
    assert not KeptKills(tmp_path / "kills.jsonl", 16, "a").found
