"""`actswm replay` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from actswm.cli.main import app
from actswm.errors import UserError

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "cs2dem"
needs_samples = pytest.mark.skipif(not SAMPLES.exists(), reason="needs ../shared/samples")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["replay", *map(str, arguments)], env={"COLUMNS": "160"})


def refused(*arguments: str | Path) -> str:
    result = run(*arguments)
    assert isinstance(result.exception, UserError), result.output
    return str(result.exception)


@needs_samples
def test_inspect_and_windows_say_what_a_demo_holds(tmp_path: Path) -> None:
    pytest.importorskip("awpy", reason="needs actswm[cs2]")
    told = run("inspect", SAMPLES / "14065.dem").output
    assert "de_nuke" in told and "64 ticks a second" in told and "6721005" in told and "missing" not in told
    assert "missing: per-tick states" in run("inspect", SAMPLES / "14090.dem").output
    listed = run("windows", SAMPLES / "14011.dem", "--players", "Greymouth,6", "--json", tmp_path / "w.json")
    assert "2 windows, 0.0034 hours" in listed.output
    assert [one["slot"] for one in json.loads((tmp_path / "w.json").read_text())["windows"]] == [3, 6]
    assert "every window" in refused("windows", SAMPLES / "14090.dem")
    assert "citadel" in refused("inspect", SAMPLES / "deadlock_hltv_10423.dem")


@needs_samples
def test_a_kit_of_a_real_demo_has_all_it_needs(tmp_path: Path) -> None:
    pytest.importorskip("awpy", reason="needs actswm[cs2]")
    out = tmp_path / "kit"
    assert run("kit", SAMPLES / "14011.dem", "--players", "3", "--out", out).exit_code == 0
    names = {path.name for path in out.iterdir()}
    assert names == {
        "cfg",
        "demo.dem",
        "kit.json",
        "README.txt",
        "run_kit.py",
        "spectated.py",
        "windows.json",
    }
    [cfg] = (out / "cfg").iterdir()
    assert 'mirv_cmd addAtTick 102 "spec_player 3"' in cfg.read_text()
    # Nothing has come back yet: each window is told, and the command fails.
    result = run("collect", out, "--out", tmp_path / "clips")
    assert result.exit_code == 1 and "run_kit.py" in result.output
    assert "Windows" in refused("render", SAMPLES / "14011.dem", "--out", tmp_path / "clips")


def test_freedoom_from_demo_to_dataset_and_a_dry_run(tmp_path: Path) -> None:
    demos = tmp_path / "demos"
    options = ("--steps", "40", "--size", "32", "--episode-steps", "25")
    assert run("record", "freedoom/maze", *options, "--out", demos).exit_code == 0
    listed = run(
        "render", demos, "--size", "32x32", "--min-seconds", "0", "--dry-run", "--out", tmp_path / "clips"
    )
    assert "2 windows" in listed.output and not (tmp_path / "clips").exists()
    done = run("render", demos, "--size", "32x32", "--min-seconds", "0", "--out", tmp_path / "clips")
    assert done.exit_code == 0 and "40 frames, 100.00% valid" in done.output
    assert "--size 32x32" in refused("render", demos, "--out", tmp_path / "other")


def test_wrong_use_is_named(tmp_path: Path) -> None:
    assert ".dm_71" in refused("inspect", tmp_path / "film.mp4")
    assert "no such" in refused("inspect", tmp_path / "gone.dem")
    assert "records no demos" in refused("record", "minetest/arena", "--out", tmp_path / "x")
    assert "kit" in refused("collect", tmp_path, "--out", tmp_path / "x")


def test_a_wrong_choice_is_answered_with_the_known_ones(tmp_path):
    done = run("render", tmp_path, "--executor", "fog", "--out", tmp_path / "x")
    assert done.exit_code == 2 and "'fog' is not one of" in done.output


@needs_samples
def test_rounds_sizes_and_outputs_that_cannot_be_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("awpy", reason="needs actswm[cs2]")
    demo = SAMPLES / "14011.dem"
    for rounds in ("x", "5-2", "1-99999999999", "1-"):
        assert "--rounds" in refused("windows", demo, "--rounds", rounds)
    for size in ("31x32", "0x0", "32", "32x32x32", "٣٢x٣٢", "99998x32"):
        assert "--size" in refused("kit", demo, "--size", size, "--out", tmp_path / "kit")
    (tmp_path / "file").touch()
    assert "cannot be written" in refused("windows", demo, "--json", tmp_path / "file" / "w.json")
    assert "cannot be written" in refused("kit", demo, "--out", tmp_path / "file")


def test_freedoom_says_what_it_cannot(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    record = ("record", "freedoom/maze", "--steps", "20", "--size", "32")
    assert "cannot be written" in refused(*record, "--out", tmp_path / "file")
    assert "actswm replay record" in refused("inspect", tmp_path)
    assert run(*record, "--out", tmp_path / "demos").exit_code == 0
    told = run("inspect", tmp_path / "demos").output
    assert "freedoom maze" in told and "[" not in told
    assert "lockstep only" in refused("render", tmp_path / "demos", "--mode", "realtime", "--out", tmp_path / "x")
    options = ("--size", "32x32", "--min-seconds", "0")
    assert "cannot be written" in refused("render", tmp_path / "demos", *options, "--out", tmp_path / "file")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"windows": [{}]}', '{"windows": 3}'])
def test_what_is_no_kit_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "kit.json").write_text(content)
    assert "kit.json" in refused("collect", tmp_path, "--out", tmp_path / "x")
