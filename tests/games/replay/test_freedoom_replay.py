"""`.lmp` demos of Freedoom, on the real engine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import av
import pytest

from actswm.curation.replay.render import ExportSettings
from actswm.curation.replay.run import render
from actswm.curation.replay.windows import WindowRules, windows_of
from actswm.errors import UserError
from actswm.formats.lmp import check_lmp, lmp_replay, read_lmp_run
from actswm.games.episodes import RecordingPlan
from actswm.games.freedoom.demos import FreedoomReplay, record_lmp, recorders_spec
from actswm.games.recording import record

PLAN = RecordingPlan("freedoom/maze", seed=5, size=(64, 64), episode_steps=90)
STEPS = 220


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lmp")
    record_lmp(PLAN, STEPS, folder)
    return folder


def test_the_dataset_file_is_the_recorders_bit_for_bit(run: Path, tmp_path: Path) -> None:
    record(PLAN, STEPS, tmp_path / "recorder.h5")
    told = read_lmp_run(run)
    replay = lmp_replay(told)
    windows = windows_of(replay, WindowRules())
    assert [window.ticks for window in windows] == [90, 90, 40]
    settings = ExportSettings(PLAN.size, 35.0, "freedoom")
    report = render(
        replay, windows, WindowRules(), tmp_path / "out", FreedoomReplay, settings, spec=recorders_spec(told)
    )
    assert not report.failures and report.frames == STEPS
    assert (tmp_path / "out" / "dataset.h5").read_bytes() == (tmp_path / "recorder.h5").read_bytes()
    for window in windows:
        with av.open(str(tmp_path / "out" / window.name / "full_round.mp4")) as clip:
            assert [stream.type for stream in clip.streams] == ["video"]
            stream = clip.streams.video[0]
            assert (stream.average_rate, stream.height, stream.width) == (35, 64, 64)
            assert stream.frames == window.ticks


def test_files_that_are_no_demo_are_refused(run: Path, tmp_path: Path) -> None:
    whole = (run / "episode-00000.lmp").read_bytes()
    for name, data, reason in (
        ("empty.lmp", b"", "empty"),
        ("vanilla.lmp", b"\x6d" + bytes(400), "ZDEM"),
        ("cut.lmp", whole[: len(whole) // 2], "breaks off"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UserError, match=f"{name}.*{reason}"):
            check_lmp(tmp_path / name)
    with pytest.raises(UserError, match=r"run\.json"):
        read_lmp_run(tmp_path)


def test_a_demo_that_changed_is_refused(run: Path, tmp_path: Path) -> None:
    """Half of a demo's bytes set variables of the engine; with some it never comes back."""
    shutil.copytree(run, tmp_path / "run")
    path = tmp_path / "run" / "episode-00001.lmp"
    data = bytearray(path.read_bytes())
    data[370] ^= 2
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"episode-00001\.lmp: is not the demo"):
        read_lmp_run(tmp_path / "run")


@pytest.mark.parametrize(
    "change",
    [{"file": "../episode-00000.lmp"}, {"file": 3}, {"steps": 10**12}, {"steps": "90"}, {"seed": -1}, {"x": 1}],
)
def test_a_list_of_demos_that_is_odd_is_refused(run: Path, tmp_path: Path, change: dict) -> None:
    shutil.copytree(run, tmp_path / "run")
    told = json.loads((run / "run.json").read_text())
    told["episodes"][0].update(change)
    (tmp_path / "run" / "run.json").write_text(json.dumps(told))
    with pytest.raises(UserError, match=r"run\.json"):
        read_lmp_run(tmp_path / "run")
