from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from actswm.curation.replay.windows import WindowRules, hours, manifest, windows_of
from actswm.errors import UserError
from actswm.formats.replay import Replay

from .made import made_replay

SAMPLES = Path(__file__).parents[3] / ".." / "shared" / "samples" / "cs2dem"


def spans(replay: Replay, rules: WindowRules) -> list[tuple[int, int, int, int]]:
    return [(one.round, one.slot, one.start, one.end) for one in windows_of(replay, rules)]


def test_windows_are_player_times_round_alive_without_the_freeze_time() -> None:
    replay = made_replay()
    assert spans(replay, WindowRules()) == [
        (1, 1, 33, 200),
        (1, 2, 33, 119),
        (2, 1, 233, 400),
        (2, 2, 233, 400),
    ]
    assert spans(replay, WindowRules(freeze_time=True))[:2] == [(1, 1, 1, 200), (1, 2, 1, 119)]
    assert spans(replay, WindowRules(min_seconds=3.0)) == [
        (1, 1, 33, 200),
        (2, 1, 233, 400),
        (2, 2, 233, 400),
    ]
    assert spans(replay, WindowRules(players=("77",), rounds=(2,))) == [(2, 1, 233, 400)]
    assert spans(replay, WindowRules(players=("2", "Ann"), rounds=(1,))) == [(1, 1, 33, 200), (1, 2, 33, 119)]
    everything = windows_of(replay, WindowRules())
    assert hours(replay, everything) == pytest.approx((168 + 87 + 168 + 168) / 32 / 3600)


def test_who_comes_back_in_a_round_has_two_windows() -> None:
    replay = made_replay()
    track = replay.tracks[1]
    alive = track.alive.copy()
    alive[(track.tick >= 80) & (track.tick < 100)] = False
    again = replace(replay, tracks={1: replace(track, alive=alive)})
    found = windows_of(again, WindowRules(rounds=(1,)))
    assert [(one.start, one.end, one.part) for one in found] == [(33, 79, 0), (100, 200, 1)]
    assert len({one.name for one in found}) == 2


def test_names_are_safe_as_folders() -> None:
    names = [window.name for window in windows_of(made_replay(), WindowRules())]
    assert names[1] == "round-01-slot-02-part-00-B_b___" and len(set(names)) == len(names)


def test_the_manifest_says_what_and_how_long() -> None:
    replay = made_replay()
    windows = windows_of(replay, WindowRules(players=("Ann",)))
    told = manifest(replay, windows, WindowRules(players=("Ann",)))
    assert told["hours"] == pytest.approx(2 * 168 / 32 / 3600, abs=1e-6)
    assert [one["seconds"] for one in told["windows"]] == [5.25, 5.25]
    assert told["windows"][0]["account_id"] == 77


def test_wrong_choices_are_named() -> None:
    with pytest.raises(UserError, match=r"'Carl'.*Ann"):
        windows_of(made_replay(), WindowRules(players=("Carl",)))
    with pytest.raises(UserError, match="no round 9"):
        windows_of(made_replay(), WindowRules(rounds=(9,)))
    with pytest.raises(UserError, match="tick rate"):
        windows_of(replace(made_replay(), tick_rate=None), WindowRules())


@pytest.mark.skipif(not SAMPLES.exists(), reason="needs ../shared/samples")
def test_the_samples_have_these_windows() -> None:
    pytest.importorskip("awpy", reason="needs actswm[cs2]")
    from actswm.formats.cs2dem import read_cs2_demo

    nuke = read_cs2_demo(SAMPLES / "14065.dem")
    assert spans(nuke, WindowRules(min_seconds=0.5)) == [(1, slot, 142, 185) for slot in range(1, 11)]
    assert windows_of(nuke, WindowRules()) == ()  # 44 ticks are less than a second
    assert spans(nuke, WindowRules(freeze_time=True)) == [(1, slot, 1, 185) for slot in range(1, 11)]
    italy = read_cs2_demo(SAMPLES / "14011.dem")
    found = {one.slot: (one.start, one.end) for one in windows_of(italy, WindowRules())}
    # Three are dead at first and spawn at 170, 178 and 186.
    assert found == {slot: (1, 391) for slot in range(1, 11)} | {2: (186, 391), 4: (170, 391), 7: (178, 391)}
    assert windows_of(read_cs2_demo(SAMPLES / "14090.dem"), WindowRules()) == ()
