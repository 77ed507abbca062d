"""Counter-Strike 2: the cfg and launch line, and a kit that runs to its end on a stand-in for HLAE."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import av
import numpy as np
import pytest

from actswm.curation.replay.render import ExportSettings
from actswm.curation.replay.run import render
from actswm.curation.replay.windows import WindowRules, windows_of
from actswm.data import DatasetFile
from actswm.errors import UserError
from actswm.formats.replay import Player, Replay, Round, Track, Window
from actswm.games.cs2.kit import across, write_kit
from actswm.games.cs2.results import KitReplay, read_kit
from actswm.games.cs2.schedule import cfg_text, cmd_line, launch_arguments, schedule

from ...curation.harvest.made_streams import write_video

SECOND_HALF = """\
// round-04-slot-03-part-00-Ann: Ann, ticks 12000 to 15000
mirv_streams settings add ffmpeg actswm "-c:v libx264 -preset veryfast -crf 10 -pix_fmt yuv420p -y {QUOTE}{AFX_STREAM_PATH}\\video.mp4{QUOTE}"
mirv_streams record name "@TAKE@"
mirv_streams record fps 32
mirv_streams record startMovieWav 0
mirv_streams record screen enabled 1
mirv_streams record screen settings actswm
mirv_cmd clear
mirv_cmd addAtTick 96 "demo_gototick 11935"
mirv_cmd addAtTick 11936 "sv_cheats 1"
mirv_cmd addAtTick 11936 "cl_draw_only_deathnotices 1"
mirv_cmd addAtTick 11936 "mirv_deathmsg filter add block=1"
mirv_cmd addAtTick 11936 "spec_show_xray 0"
mirv_cmd addAtTick 11936 "cl_trueview_show_status 0"
mirv_cmd addAtTick 11936 "r_show_build_info 0"
mirv_cmd addAtTick 11936 "tv_listen_voice_indices 0"
mirv_cmd addAtTick 11996 "demo_timescale 0.0234"
mirv_cmd addAtTick 11999 "demo_timescale 1"
mirv_cmd addAtTick 12000 "spec_mode 1"
mirv_cmd addAtTick 12000 "spec_player 3"
mirv_cmd addAtTick 12000 "mirv_streams record start"
mirv_cmd addAtTick 15000 "mirv_streams record end"
mirv_cmd addAtTick 15064 "quit"
"""  # noqa: E501


def test_the_cfg_is_this_text() -> None:
    window = Window(3, "Ann", 4, 12000, 15000)
    assert cfg_text(window, schedule(window, 64.0), 32.0) == SECOND_HALF.replace("\n", "\r\n")


def test_the_launch_line_is_this() -> None:
    line = cmd_line("x.dem", "actswm/one", (720, 1280))
    assert line == '-insecure -novid -width 1280 -height 720 -sw +exec "actswm/one" +playdemo "x.dem"'
    assert launch_arguments("C:\\HLAE\\HLAE.exe", "C:\\cs2.exe", line) == [
        "C:\\HLAE\\HLAE.exe", "-noGui", "-autoStart", "-noConfig", "-afxDisableSteamStorage", "-customLoader",
        "-hookDllPath", "C:\\HLAE\\x64\\AfxHookSource2.dll", "-programPath", "C:\\cs2.exe", "-cmdLine", line,
    ]  # fmt: skip


@pytest.mark.parametrize("start", [1, 90, 96, 102, 140, 161, 162, 163, 5000])
@pytest.mark.parametrize("streams", [True, False])
def test_orders_keep_the_rules_wherever_a_window_begins(start: int, streams: bool) -> None:
    orders = schedule(Window(3, "Ann", 1, start, start + 500), 64.0, streams=streams)
    flat = [(order.tick, command) for order in orders for command in order.commands]
    assert min(tick for tick, _ in flat) >= 96
    assert [tick for tick, _ in flat] == sorted(tick for tick, _ in flat)
    spectate = next(tick for tick, command in flat if command == "spec_player 3")
    assert flat[[command for _, command in flat].index("spec_player 3") - 1] == (spectate, "spec_mode 1")
    for tick, command in flat:
        if command.startswith("demo_gototick"):
            target = int(command.split()[1])
            assert tick == 96 and target == start - 65 > tick and spectate - target > 60
    assert flat[-1] == (start + 500 + 64, "quit")
    assert spectate == max(start, 102)


def test_a_window_before_the_first_command_is_refused() -> None:
    with pytest.raises(UserError, match="before tick"):
        schedule(Window(3, "Ann", 1, 1, 90), 64.0)


def cs2_replay(path: Path) -> Replay:
    """Three players who turn differently; user ids 0 to 2."""
    path.write_bytes(b"PBDEMS2\x00" + bytes(64))
    ticks = np.arange(1, 700)
    rng = np.random.default_rng(3)
    tracks = {}
    for slot in (1, 2, 3):
        turn = np.repeat(rng.normal(0, 1.2, len(ticks) // 16 + 1), 16)[: len(ticks)]
        tracks[slot] = Track(
            slot,
            ticks,
            np.ones(len(ticks), bool),
            np.cumsum(turn).astype(np.float32),
            np.zeros(len(ticks), np.float32),
            np.repeat(rng.random((len(ticks) // 8 + 1, 14)) < 0.2, 8, axis=0)[: len(ticks)],
        )
    players = tuple(Player(name, slot, slot - 1) for slot, name in enumerate(("Ann", "Bob", "Cid"), 1))
    return Replay(
        path, "cs2", "de_made", "14999", 64.0, 1, 699, players, (Round(1, 1, 699, 300),), (), tracks
    )


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A Windows machine, or what a kit sees of one."""
    game = tmp_path / "steam" / "game"
    (game / "bin" / "win64").mkdir(parents=True)
    (game / "csgo").mkdir()
    (game / "bin" / "win64" / "cs2.exe").touch()
    (game / "csgo" / "steam.inf").write_text("ClientVersion=2000\nPatchVersion=1.41.2.3\n")
    hlae = tmp_path / "hlae"
    hlae.mkdir()
    shutil.copy(Path(__file__).parent / "stand_in_hlae.py", hlae / "HLAE.py")
    (hlae / "changelog.xml").write_text(
        "<changelog><release><version>2.180.0</version></release></changelog>"
    )
    (hlae / "titles.txt").write_text("")
    return tmp_path


def misbehave(machine: Path, replay: Replay, moods: list[str]) -> None:
    plan = {
        "moods": moods,
        "ticks": replay.tracks[1].tick.tolist(),
        "yaws": {str(slot): track.yaw.tolist() for slot, track in replay.tracks.items()},
    }
    (machine / "hlae" / "plan.json").write_text(json.dumps(plan))
    (machine / "hlae" / "launches.json").unlink(missing_ok=True)


def run_kit(machine: Path, kit: Path, *more: str) -> subprocess.CompletedProcess[str]:
    titles = machine / "hlae" / "titles.txt"
    # A dialog is gone when it was seen; one that opens just now is not to be lost.
    show = f"{sys.executable} -c \"p = r'{titles}'; t = open(p).read(); print(t); t and open(p, 'w').close()\""
    command = [sys.executable, str(kit / "run_kit.py"), "--hlae", str(machine / "hlae" / "HLAE.py")]
    command += [
        "--game",
        str(machine / "steam" / "game" / "bin" / "win64" / "cs2.exe"),
        "--titles",
        show,
        *more,
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=200)


def test_a_kit_runs_to_its_end_whatever_hlae_does_and_comes_back(machine: Path, tmp_path: Path) -> None:
    replay = cs2_replay(tmp_path / "made.dem")
    windows = windows_of(replay, WindowRules(players=("Bob", "Cid")))
    assert [(one.slot, one.start, one.end) for one in windows] == [(2, 300, 699), (3, 300, 699)]
    kit = tmp_path / "kit"
    write_kit(kit, replay, windows, fps=32.0, size=(90, 160), game_version="1.41.2.3", hlae_version="2.180.0")
    assert across((90, 160)) == pytest.approx(np.degrees(2 * np.arctan(80 / 60)))  # the stand-in's camera
    misbehave(machine, replay, ["dialog", "drop", "well", "early", "crash", "well"])
    done = run_kit(machine, kit)
    assert done.returncode == 0, done.stdout + done.stderr
    for words in (
        "error dialog",
        "spec_player was dropped",
        "ended early",
        "without a video",
        "2 of 2 windows",
    ):
        assert words in done.stdout
    launches = json.loads((machine / "hlae" / "launches.json").read_text())
    assert len(launches) == 6 and all('+exec "actswm/round-01-slot-0' in launch[-1] for launch in launches)
    assert "2 of 2" in run_kit(machine, kit).stdout  # nothing is left to do
    assert len(json.loads((machine / "hlae" / "launches.json").read_text())) == 6

    settings = ExportSettings((90, 160), 32.0, "cs2 kit")
    report = render(
        replay,
        windows,
        WindowRules(),
        tmp_path / "out",
        partial(KitReplay, kit=read_kit(kit), size=(90, 160)),
        settings,
    )
    assert not report.failures
    with DatasetFile(tmp_path / "out" / "dataset.h5") as file:
        assert file.num_episodes == 2 and file.fps == 32.0 and file.attributes["true_controls"] is True
        valid = file.column("frame_valid").astype(bool)
        assert valid.mean() > 0.98
        tick, window = file.column("tick"), file.column("window")
        for slot in (2, 3):
            rows = np.flatnonzero(valid & (window == 10_000 + 100 * slot))
            pressed = replay.tracks[slot].pressed
            assert pressed is not None
            for row in rows[:50]:  # two ticks a frame; tick t is row t - 1
                expected = pressed[tick[row] : tick[row] + 2, :10].any(0)
                assert np.array_equal(file.action[row][:10], expected)


def test_what_never_works_is_told_and_the_rest_is_done(machine: Path, tmp_path: Path) -> None:
    replay = cs2_replay(tmp_path / "made.dem")
    windows = windows_of(replay, WindowRules(players=("Bob", "Cid")))
    kit = tmp_path / "kit"
    write_kit(kit, replay, windows, size=(90, 160))
    misbehave(machine, replay, ["crash"] * 3)
    done = run_kit(machine, kit)
    assert done.returncode == 1 and "1 of 2 windows are done" in done.stdout
    assert "failed: round-01-slot-02-part-00-Bob: the game ended without a video" in done.stdout
    settings = ExportSettings((90, 160), 32.0, "cs2 kit")
    engine = partial(KitReplay, kit=read_kit(kit), size=(90, 160))
    report = render(replay, windows, WindowRules(), tmp_path / "out", engine, settings)
    assert [failure.name for failure in report.failures] == ["round-01-slot-02-part-00-Bob"]
    assert "run_kit.py" in (report.failures[0].problem or "")


def test_results_that_came_back_damaged_cost_their_windows_only(machine: Path, tmp_path: Path) -> None:
    replay = cs2_replay(tmp_path / "made.dem")
    windows = windows_of(replay, WindowRules())
    folder = tmp_path / "kit"
    write_kit(folder, replay, windows, size=(90, 160))
    misbehave(machine, replay, [])
    assert run_kit(machine, folder).returncode == 0
    ann, bob, cid = (folder / "takes" / window.name for window in windows)
    (ann / "result.json").write_text("{}")
    video = next(bob.rglob("video.mp4"))
    video.write_bytes(video.read_bytes()[:500])
    engine = KitReplay(replay, read_kit(folder), (90, 160))
    whole = engine.capture(windows[2])
    video = next(cid.rglob("video.mp4"))
    with av.open(str(video)) as container:
        place = [packet.pos for packet in container.demux(video=0) if packet.pos is not None][60]
    data = bytearray(video.read_bytes())
    data[place : place + 4] = b"\xff\xff\xff\xff"  # the length of what follows: this frame cannot be decoded
    video.write_bytes(data)
    hurt = engine.capture(windows[2])
    # What is left of a damaged video shows the ticks that it showed before; what had to be guessed shows none.
    assert whole.tick is not None and hurt.tick is not None and len(hurt.frames) < len(whole.frames)
    ticks = dict(zip(whole.time_s.tolist(), whole.tick.tolist()))
    told = [(tick, ticks[time]) for time, tick in zip(hurt.time_s.tolist(), hurt.tick.tolist())]
    assert all(tick in (-1, true) for tick, true in told) and any(tick == -1 for tick, _ in told)
    settings = ExportSettings((90, 160), 32.0, "cs2 kit")
    back = partial(KitReplay, kit=engine.kit, size=(90, 160))
    report = render(replay, windows, WindowRules(), tmp_path / "out", back, settings)
    assert [failure.name for failure in report.failures] == [window.name for window in windows[:2]]
    assert "run_kit.py" in (report.failures[0].problem or "") and report.outcomes[2].valid > 0


def test_what_was_grabbed_keeps_its_times_when_the_video_is_damaged(tmp_path: Path) -> None:
    replay = cs2_replay(tmp_path / "made.dem")
    [window] = windows_of(replay, WindowRules(players=("Bob",)))
    kit = tmp_path / "kit"
    write_kit(kit, replay, (window,), size=(90, 160), capture="wgc")
    take = kit / "takes" / window.name
    take.mkdir(parents=True)
    (take / "result.json").write_text(json.dumps({"video": "video.mp4"}))
    times = np.cumsum(np.random.default_rng(0).uniform(0.01, 0.05, 90))
    (take / "times.json").write_text(json.dumps(times.tolist()))
    video = take / "video.mp4"
    write_video(video, 90, fps=32, size=(90, 160), sound=False)
    engine = KitReplay(replay, read_kit(kit), (90, 160))
    whole = engine.capture(window)
    assert np.array_equal(whole.time_s, times) and whole.tick is None
    with av.open(str(video)) as container:
        place = [packet.pos for packet in container.demux(video=0) if packet.pos is not None][30]
    data = bytearray(video.read_bytes())
    data[place : place + 4] = b"\xff\xff\xff\xff"
    video.write_bytes(data)
    hurt = engine.capture(window)
    assert 40 < len(hurt.frames) < 90 and len(hurt.time_s) == len(hurt.frames)
    by_time = dict(zip(times.tolist(), whole.frames))
    assert all(np.array_equal(frame, by_time[time]) for frame, time in zip(hurt.frames, hurt.time_s.tolist()))


def test_other_versions_are_refused(machine: Path, tmp_path: Path) -> None:
    replay = cs2_replay(tmp_path / "made.dem")
    kit = tmp_path / "kit"
    write_kit(
        kit, replay, windows_of(replay, WindowRules(players=("Bob",))), size=(90, 160), hlae_version="9.9"
    )
    misbehave(machine, replay, [])
    done = run_kit(machine, kit)
    assert done.returncode == 2 and "hlae 9.9, but 2.180.0" in done.stdout
    assert not (machine / "hlae" / "launches.json").exists()
    assert run_kit(machine, kit, "--any-version").returncode == 0


def test_a_kit_is_for_cs2(tmp_path: Path) -> None:
    replay = cs2_replay(tmp_path / "made.dem")
    with pytest.raises(UserError, match="Counter-Strike"):
        write_kit(tmp_path / "kit", replace(replay, game="openarena"), ())
    with pytest.raises(UserError, match="--capture"):
        write_kit(tmp_path / "kit", replay, (), capture="gdi")  # type: ignore[arg-type]
