"""The example game, from its recording to a plan, by the commands that its page names."""

import json
import shutil
from pathlib import Path

import pytest

from actswm import WorldModel
from actswm.games.registry import make_game
from actswm.games.tasks import find_task
from actswm.planning.task_check import check_tasks

from ..cli.test_plan import FAST, actswm

ROVER = Path(__file__).parents[2] / "examples" / "rover"


@pytest.fixture
def yard(tmp_path, monkeypatch):
    """A copy of the example as the current folder."""
    shutil.copytree(ROVER, tmp_path / "rover")
    monkeypatch.chdir(tmp_path / "rover")
    return tmp_path / "rover"


def test_from_record_to_plan(yard, monkeypatch, capsys):
    def run(*arguments):
        code, out, err = actswm(monkeypatch, capsys, *arguments)
        assert not code, err
        return out

    record = ("record", "rover.py:Rover", "--size", "16", "--episode-steps", "120")
    assert "1,500 frames" in run(*record, "--steps", "1500", "--out", "rover.h5")
    run("train", "tiny/actswm", "model.image_size=16", "training.steps=4", "training.threads=1", "--data", "rover.h5", "--out", "run", "--quiet")  # fmt: skip  # noqa: E501
    model = WorldModel.from_pretrained("run/model")
    assert model.encoding.vocabulary.spelling == "rover(forward,back,steer~)"
    assert "run" in run("drift", "run", "--data", "rover.h5", "--windows", "4", "--context", "4", "--horizon", "2")

    fidelity = ("fidelity", "run", "--data", "rover.h5", "--windows", "2", "--context", "4", "--horizon", "2")
    fidelity += ("--split", "all", "--gallery", "50", "--workers", "1", "--json", "fidelity.json")
    code, _, err = actswm(monkeypatch, capsys, *fidelity)
    assert code == 2 and "if you trust that code, add --game rover.py:Rover" in err
    code, _, err = actswm(monkeypatch, capsys, *fidelity, "--game", "other.py:Rover")
    assert code == 2 and "rover.py:Rover" in err
    run(*fidelity, "--game", "rover.py:Rover")
    assert json.loads((yard / "fidelity.json").read_text())["models"][0]["steps"]

    out = run("plan", "run", "--task", "beacon.yaml", *FAST, "--baselines", "expert,noop", "--no-film")
    assert "rover/beacon" in out and "expert" in out and "1/1" in out
    assert (yard / "plans" / "rover-beacon").is_dir()


def test_the_task_is_solved_by_its_expert_and_not_by_chance():
    (result,) = check_tasks([find_task(str(ROVER / "beacon.yaml"))], lambda task: make_game(task.game))
    assert result.expert == 20 and result.random <= 6
