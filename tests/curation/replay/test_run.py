"""All windows of a replay with a made engine: files, failures, kills, other processes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from actswm.controls import KEYS14, ActionEncoding
from actswm.curation.replay.render import ExportSettings
from actswm.curation.replay.run import RenderReport, render
from actswm.curation.replay.windows import WindowRules, windows_of
from actswm.data import DatasetFile, validate
from actswm.errors import UserError
from actswm.formats.replay import Replay
from actswm.recovery.owamcap_scoring import score_owamcap

from .made import made_replay
from .made_engine import MadeEngine

SETTINGS = ExportSettings((32, 64), 16.0, "made")


@pytest.fixture
def replay(tmp_path: Path) -> Replay:
    path = tmp_path / "made.dem"
    path.write_bytes(b"a made demo")
    return made_replay(path)


def run(replay: Replay, out: Path, *, dies: tuple[int, ...] = (), **options: Any) -> RenderReport:
    engine = partial(MadeEngine, notes=out.with_name(f"{out.name}-launches"), dies=dies)
    rules = options.pop("rules", WindowRules())
    settings = options.pop("settings", SETTINGS)
    return render(replay, windows_of(replay, rules), rules, out, engine, settings, **options)


def files(out: Path) -> dict[str, bytes]:
    """All of a folder but the list of the dataset file, which knows the file by its time."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != "dataset.json"
    }


def test_clips_are_mute_and_exact_and_the_table_and_the_dataset_agree(replay: Replay, tmp_path: Path) -> None:
    told = []
    report = run(replay, tmp_path / "out", finish=lambda *news: told.append(news))
    windows = windows_of(replay, WindowRules())
    assert [news[1:] for news in told] == [(number, 4) for number in range(1, 5)] and not report.failures
    with DatasetFile(tmp_path / "out" / "dataset.h5") as file:
        validate(file.path)
        assert (file.fps, file.height, file.width, file.vocabulary) == (16.0, 32, 64, KEYS14)
        assert file.action_origin == "recorded" and file.attributes["true_controls"] is True
        assert file.num_episodes == len(windows)
        start = 0
        for window in windows:
            folder = tmp_path / "out" / window.name
            lines = [json.loads(line) for line in (folder / "frames.jsonl").read_text().splitlines()]
            assert [line["tick"] for line in lines] == list(range(window.start, window.end + 1, 2))
            rows = slice(start, start + len(lines))
            assert file.column("tick")[rows].tolist() == [line["tick"] for line in lines]
            assert set(file.column("window")[rows].tolist()) == {window.number}
            for action, line in zip(file.action[rows], lines):
                assert line["controls"] is None or list(KEYS14.pressed(action)) == line["controls"]
            with av.open(str(folder / "full_round.mp4")) as clip:
                assert [stream.type for stream in clip.streams] == ["video"]
                stream = clip.streams.video[0]
                assert (stream.average_rate, stream.height, stream.width) == (16, 32, 64)
                decoded = [frame for frame in clip.decode(stream)]
            assert [frame.time for frame in decoded] == [index / 16 for index in range(len(lines))]
            shown = np.array([frame.to_ndarray(format="rgb24") for frame in decoded])
            assert np.abs(shown.astype(int) - file.pixels[rows]).mean() < 6
            start += len(lines)
        assert start == file.num_frames == report.frames
    death = [
        event
        for line in (tmp_path / "out" / windows[0].name / "frames.jsonl").read_text().splitlines()
        for event in json.loads(line)["events"]
    ]
    assert [(event["name"], event["tick"]) for event in death] == [("shot", 119), ("kill", 120)]


def test_an_engine_that_dies_is_launched_once_more_and_then_costs_its_window_only(
    replay: Replay, tmp_path: Path
) -> None:
    whole = run(replay, tmp_path / "whole")
    once = run(replay, tmp_path / "once", dies=(1,))
    assert [outcome.tries for outcome in once.outcomes] == [1, 2, 1, 1] and not once.failures
    assert files(tmp_path / "once") == files(tmp_path / "whole")
    twice = run(replay, tmp_path / "twice", dies=(1, 2))
    [failure] = twice.failures
    assert failure.name == whole.outcomes[1].name and "SIGKILL" in (failure.problem or "")
    with DatasetFile(tmp_path / "twice" / "dataset.h5") as file:
        assert file.num_episodes == 3
    again = run(replay, tmp_path / "twice")  # only what had failed
    assert (
        again.reused == 3 and not again.failures and len(list((tmp_path / "twice-launches").iterdir())) == 6
    )
    assert files(tmp_path / "twice") == files(tmp_path / "whole")


def killed_at(place: int, work: Callable[[], object]) -> bool:
    """Run `work` in a child that kills itself before its `place`th renaming; did it get that far?"""
    child = os.fork()
    if child == 0:
        count = 0
        real_replace, real_path_replace = os.replace, Path.replace

        def counted(real: Callable[..., Any]) -> Callable[..., Any]:
            def rename(*arguments: Any, **options: Any) -> Any:
                nonlocal count
                count += 1
                if count == place:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*arguments, **options)

            return rename

        os.replace = counted(real_replace)
        Path.replace = counted(real_path_replace)  # type: ignore[method-assign]
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_a_kill_anywhere_and_a_second_run_give_the_same_files(replay: Replay, tmp_path: Path) -> None:
    rules = WindowRules(rounds=(1,))
    run(replay, tmp_path / "whole", rules=rules)
    expected = files(tmp_path / "whole")
    place = 0
    while True:
        place += 1
        out = tmp_path / f"killed-{place}"
        killed = killed_at(place, partial(run, replay, out, rules=rules))
        run(replay, out, rules=rules)
        assert files(out) == expected, place
        if not killed:
            break
    assert place > 10


def test_several_processes_give_the_same_files(replay: Replay, tmp_path: Path) -> None:
    run(replay, tmp_path / "one")
    run(replay, tmp_path / "two", workers=2)
    assert files(tmp_path / "two") == files(tmp_path / "one")


def test_more_windows_later_keep_the_first_ones(replay: Replay, tmp_path: Path) -> None:
    run(replay, tmp_path / "out", rules=WindowRules(players=("2",)))
    run(replay, tmp_path / "out", rules=WindowRules(players=("Ann",)))
    with DatasetFile(tmp_path / "out" / "dataset.h5") as file:
        numbers = file.column("window")[file.ep_offset[:]]
        assert numbers.tolist() == [10_200, 20_200, 10_100, 20_100]
    assert run(replay, tmp_path / "out").reused == 4


def test_other_settings_need_another_folder(replay: Replay, tmp_path: Path) -> None:
    run(replay, tmp_path / "out", rules=WindowRules(rounds=(1,)))
    replay.path.write_bytes(b"another demo")
    with pytest.raises(UserError, match="demo"):
        run(replay, tmp_path / "out")


def test_controls_that_the_demo_does_not_tell_are_not_called_true(replay: Replay, tmp_path: Path) -> None:
    silent = replace(replay, tracks={slot: replace(one, pressed=None) for slot, one in replay.tracks.items()})
    report = run(silent, tmp_path / "out", rules=WindowRules(rounds=(1,)))
    assert not report.failures and not report.true_controls
    with DatasetFile(tmp_path / "out" / "dataset.h5") as file:
        assert file.action_origin == "unknown" and file.attributes["true_controls"] is False
        assert not file.column("frame_valid").any() and not file.action[:].any()


def test_a_refused_run_leaves_the_list_of_windows(replay: Replay, tmp_path: Path) -> None:
    run(replay, tmp_path / "out", rules=WindowRules(rounds=(1,)))
    before = files(tmp_path / "out")
    with pytest.raises(UserError, match="fps"):
        run(replay, tmp_path / "out", settings=ExportSettings((32, 64), 8.0, "made"))
    assert files(tmp_path / "out") == before


def test_the_true_controls_can_be_scored_against(replay: Replay, tmp_path: Path) -> None:
    settings = ExportSettings((32, 64), 16.0, "made", owamcap=True)
    run(replay, tmp_path / "out", settings=settings, rules=WindowRules(players=("Ann",)))
    one, other = sorted((tmp_path / "out").glob("*/full_round.mcap"))
    encoding = ActionEncoding(KEYS14, "sliding", 1)
    assert score_owamcap(one, one, encoding, window=16).f1.mean == pytest.approx(1.0)
    assert score_owamcap(other, one, encoding, window=16).f1.mean < 0.9
