"""CS2 demos: the real samples with either parser, and files that must be refused."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from actswm.controls import KEYS14
from actswm.errors import UserError
from actswm.formats.cs2dem import read_cs2_demo
from actswm.formats.cs2dem.container import outline
from actswm.formats.cs2dem.rounds import rounds_of
from actswm.formats.replay import Replay, Round

pytest.importorskip("awpy", reason="needs actswm[cs2]")
zstandard = pytest.importorskip("zstandard")
SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "cs2dem"
pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="needs ../shared/samples")


@pytest.fixture(scope="module", params=["14065.dem", "14065.dem.zst"])
def nuke(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Replay:
    path = SAMPLES / "14065.dem"
    if request.param.endswith(".zst"):
        packed = tmp_path_factory.mktemp("packed") / request.param
        packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
        path = packed
    return read_cs2_demo(path)


def test_14065_is_read_whole(nuke: Replay) -> None:
    assert (nuke.game, nuke.map, nuke.build, nuke.tick_rate) == ("cs2", "de_nuke", "14065", 64.0)
    assert (nuke.first_tick, nuke.last_tick, nuke.missing) == (1, 185, ())
    assert nuke.rounds == (Round(1, 1, 185, live=142),)
    names = "Partridge Ulric Hastings Bassey Waldo Larry Walt Rivers York Vox"
    assert [player.name for player in nuke.players] == names.split()
    assert [player.slot for player in nuke.players] == list(range(1, 11))
    assert all(player.slot == player.user_id + 1 for player in nuke.players)
    assert [player.account_id for player in nuke.players] == [6721005] + [0] * 9
    assert "".join(player.team for player in nuke.players if player.slot <= 4) == "TCTTCT"
    assert set(nuke.tracks) == set(range(1, 11))
    assert all(len(track) == 185 and track.alive.all() for track in nuke.tracks.values())
    pressed = nuke.tracks[2].pressed
    assert pressed is not None
    # The bot stands through the freeze time and then walks forward.
    assert not pressed[:100, KEYS14.index("W")].any() and pressed[-10:, KEYS14.index("W")].all()


def test_both_parsers_say_the_same_of_whom_both_know() -> None:
    one, other = (read_cs2_demo(SAMPLES / "14065.dem", parsers=[name]) for name in ("awpy", "demoparser2"))
    assert (one.map, one.tick_rate, one.rounds, one.last_tick) == (
        other.map,
        other.tick_rate,
        other.rounds,
        other.last_tick,
    )
    assert other.players == one.players[:1]  # demoparser2 leaves out who has no account
    for field in ("tick", "alive", "yaw", "pitch", "pressed"):
        np.testing.assert_array_equal(getattr(one.tracks[1], field), getattr(other.tracks[1], field), field)


def test_14011_is_read_by_the_parser_that_can() -> None:
    replay = read_cs2_demo(SAMPLES / "14011.dem")
    assert (replay.map, replay.build, replay.tick_rate, replay.last_tick) == ("cs_italy", "14011", 64.0, 391)
    assert len(replay.players) == 10 and [len(track) for track in replay.tracks.values()] == [391] * 10
    assert {
        slot: int(track.alive.sum()) for slot, track in replay.tracks.items() if not track.alive.all()
    } == {
        2: 206,
        4: 222,
        7: 214,
    }
    assert replay.count("shot") == 15 and replay.count("spawn") == 3
    # Greymouth fires; the mask of that tick and the event agree.
    shot = next(event for event in replay.events if event.name == "shot")
    assert (shot.tick, replay.player(shot.slot).name, shot.text) == (3, "Greymouth", "weapon_galilar")
    pressed = replay.tracks[shot.slot].pressed
    assert pressed is not None and pressed[:5, KEYS14.index("Fire")].any()
    assert [line.split(":")[0] for line in replay.missing] == ["rounds"]
    alone = read_cs2_demo(SAMPLES / "14011.dem", parsers=["demoparser2"])
    assert alone.map == "cs_italy" and any(line.startswith("per-tick states") for line in alone.missing)


def test_14090_gives_header_and_events_and_says_what_is_missing() -> None:
    replay = read_cs2_demo(SAMPLES / "14090.dem")
    assert (replay.map, replay.build, replay.tick_rate, replay.last_tick) == ("cs_italy", "14090", 64.0, 572)
    assert [(event.tick, event.slot, event.other) for event in replay.events if event.name == "death"] == [
        (363, 1, 9),
        (464, 7, 10),
    ]
    assert {name: replay.count(name) for name in ("kill", "shot", "spawn")} == {
        "kill": 2,
        "shot": 42,
        "spawn": 39,
    }
    assert {player.name for player in replay.players} >= {"York", "Oli", "Clarence", "Greymouth"}
    assert not replay.tracks
    assert any("CCSGameRulesProxy" in line and "IllegalPathOp" in line for line in replay.missing)
    assert any("every window" in line for line in replay.missing)


def refused(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_cs2_demo(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    return str(caught.value)


def test_deadlock_is_refused() -> None:
    assert "citadel" in refused(SAMPLES / "deadlock_hltv_10423.dem")


def test_files_that_are_no_whole_demo_are_refused(tmp_path: Path) -> None:
    whole = (SAMPLES / "14065.dem").read_bytes()
    chain = 227  # the second frame's header: command 8, no tick, 7 bytes
    assert whole[chain] == 8
    cases = {
        "empty.dem": (b"", "empty"),
        "text.dem": (b"hello, world" * 9, "not a Source 2 demo"),
        "cut.dem": (whole[: len(whole) * 2 // 3], "breaks off"),
        "stub.dem": (whole[:12], "breaks off"),
        "magic.dem": (b"P" + bytes([whole[1] ^ 1]) + whole[2:], "not a Source 2 demo"),
        "chain.dem": (whole[:chain] + bytes([whole[chain] ^ 0x20]) + whole[chain + 1 :], "byte 227"),
        "cut.dem.zst": (zstandard.ZstdCompressor().compress(whole)[:-5000], "breaks off"),
        "bomb.dem.zst": (zstandard.ZstdCompressor().compress(bytes(300 << 20)), "bomb"),
        "wrong.dem.zst": (zstandard.ZstdCompressor().compress(b"hello, world"), "not a Source 2 demo"),
    }
    packed = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(whole))
    packed[len(packed) // 2] ^= 4
    cases["flipped.dem.zst"] = (bytes(packed), "damaged")
    for name, (data, reason) in cases.items():
        (tmp_path / name).write_bytes(data)
        assert reason in refused(tmp_path / name), name
    assert "no such" in refused(tmp_path / "gone.dem")


def test_a_cut_demo_gives_what_it_has_when_asked(tmp_path: Path) -> None:
    whole = (SAMPLES / "14065.dem").read_bytes()
    cut = tmp_path / "cut.dem"
    cut.write_bytes(whole[: outline(SAMPLES / "14065.dem").ends_at * 97 // 100])
    replay = read_cs2_demo(cut, damaged=True)
    assert replay.map == "de_nuke" and "breaks off" in replay.missing[0]


def test_a_flipped_bit_never_does_more_than_be_told(tmp_path: Path) -> None:
    whole = (SAMPLES / "14065.dem").read_bytes()
    seen = set()
    for seed in range(12):
        chance = random.Random(seed)
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path = tmp_path / f"{seed}.dem"
        path.write_bytes(data)
        try:
            seen.add("incomplete" if read_cs2_demo(path).missing else "read")
        except UserError as error:
            assert str(path) in str(error)
            seen.add("refused")
    assert "incomplete" in seen or "refused" in seen


def test_rounds_are_what_the_ticks_say() -> None:
    def at(*ticks: int) -> list[dict[str, int]]:
        return [{"tick": tick} for tick in ticks]

    events = {
        "round_start": at(100, 1000, 2000),
        "round_freeze_end": at(200, 1100),
        "round_end": at(900, 1900),
        "round_officially_ended": at(999, 1999),
    }
    assert rounds_of(events, 1, 2500) == (
        Round(1, 100, 900, 200),
        Round(2, 1000, 1900, 1100),
        Round(3, 2000, 2500, None),
    )
    # The demo begins in the freeze time: the round begins with the demo.
    assert rounds_of({"round_freeze_end": at(50), "round_end": at(400)}, 7, 900) == (Round(1, 7, 400, 50),)
    assert rounds_of({}, 0, 10) == ()
