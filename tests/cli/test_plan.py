"""`actswm plan` from the command line."""

import json
import sys

import numpy as np
import pytest

from actswm.cli.main import run
from actswm.planning.references import Reference, save_reference
from actswm.report.picture_note import read_note

from ..model.small_models import disturbed, small_config
from ..report import made_results

FOLLOW = ("--task", "freedoom/follow-room")
FAST = ("--episodes", "1", "--candidates", "8", "--iterations", "1", "--horizon", "3")


def actswm(monkeypatch, capsys, *arguments):
    """Exit code, output and error output of the console entry point."""
    monkeypatch.setattr(sys, "argv", ["actswm", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        run()
    captured = capsys.readouterr()
    return ended.value.code, captured.out, captured.err


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "made" / "model"
    disturbed(small_config()).save_pretrained(folder)
    return folder


def test_a_model_and_a_baseline_then_the_same_again(monkeypatch, capsys, tmp_path, checkpoint):
    arguments = (
        checkpoint,
        *FOLLOW,
        *FAST,
        "--baselines",
        "expert",
        "--out",
        tmp_path,
        "--json",
        tmp_path / "j.json",
        "--picture",
        tmp_path / "bars.png",
    )
    code, out, _ = actswm(monkeypatch, capsys, "plan", *arguments)
    assert not code and "made" in out and "expert" in out and "1/1" in out
    film = tmp_path / "made" / "episode-00.mp4"
    before = film.stat().st_mtime_ns
    code, again, _ = actswm(monkeypatch, capsys, "plan", *arguments)
    assert not code and again == out and film.stat().st_mtime_ns == before
    note = read_note((tmp_path / "bars.png").read_bytes())
    assert note.kind == "successes"
    code, _, err = actswm(monkeypatch, capsys, "plan", *arguments, "--seed", "1")
    assert code == 2 and "was played with seed 0, now 1" in err


def test_what_an_episode_depends_on_is_kept_beside_it(monkeypatch, capsys, tmp_path, checkpoint):
    arguments = (checkpoint, *FOLLOW, *FAST, "--baselines", "", "--out", tmp_path, "--no-film")
    code, _, _ = actswm(monkeypatch, capsys, "plan", *arguments, "--begin", "reference", "--mask", "mining")
    assert not code
    identity = json.loads((tmp_path / "made" / "episode-00.json").read_text())["identity"]
    assert (identity["begin"], identity["mask"]) == ("reference", "mining") and "margin" not in identity
    code, _, err = actswm(monkeypatch, capsys, "plan", *arguments)
    assert code == 2 and "was played with" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--task", "freedoom/fly"), "unknown task 'freedoom/fly'"),
        (("--task", "minetest/mine-stone"), "knows the controls of 'keys14'"),
        ((*FOLLOW, "--library", "wrong.yaml"), "wrong.yaml: chunk 'fly': unknown control 'Fly'"),
        ((*FOLLOW, "--library", "minecraft/mine-stone"), "is played with keys14"),
        ((*FOLLOW, "--reference", "short.npz", "--horizon", "12"), "2 steps, fewer than the horizon of 12"),
        ((*FOLLOW, "--reference", "missing.npz"), "missing.npz: not a reference"),
        ((*FOLLOW, "--baselines", "oracle"), "unknown baseline 'oracle'"),
        ((*FOLLOW, "--episodes", "99"), "has 20 starts, not 99"),
        ((*FOLLOW, "--beside", "missing.json"), "missing.json: no such file"),
        ((*FOLLOW, "--beside", "drift.json"), "drift.json: not a result of actswm plan"),
    ],
)
def test_bad_input_is_one_line(monkeypatch, capsys, tmp_path, checkpoint, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.yaml").write_text(
        "vocabulary: keys14\nchunks: [{name: fly, weight: 1, hold: {Fly: 1}}]\n"
    )
    short = Reference(np.zeros((9, 16, 16, 3), np.uint8), np.zeros((2, 4, 14), np.float32))
    save_reference(tmp_path / "short.npz", short)
    made_results.write(tmp_path / "drift.json", made_results.drift({"made": 0.5}))
    code, _, err = actswm(monkeypatch, capsys, "plan", checkpoint, *arguments)
    lines = [line for line in err.splitlines() if line.startswith("actswm:")]
    assert code == 2 and len(lines) == 1 and message in lines[0]


def test_an_unknown_choice_names_the_known_ones(monkeypatch, capsys, checkpoint):
    code, _, err = actswm(monkeypatch, capsys, "plan", checkpoint, *FOLLOW, "--search", "grid")
    assert code == 2 and "grid" in err and "categorical" in err and "library-init" in err


def test_a_folder_that_is_no_checkpoint(monkeypatch, capsys, tmp_path):
    code, _, err = actswm(monkeypatch, capsys, "plan", tmp_path, *FOLLOW)
    assert code == 2 and str(tmp_path) in err
    code, _, err = actswm(monkeypatch, capsys, "plan", *FOLLOW, "--baselines", "")
    assert code == 2 and "nothing to evaluate" in err


def test_minecraft_without_its_engine(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("MINESTUDIO_DIR", str(tmp_path))
    code, _, err = actswm(monkeypatch, capsys, "plan", "--task", "minecraft/mine-stone", "--out", tmp_path)
    assert code == 2 and "pip install minestudio" in err.splitlines()[-1]
