"""Published plans in Minetest succeed again, with the weights that ship."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "results" / "minetest-tasks"


@pytest.mark.timeout(600)
def test_the_torch_is_placed_again(minetest_installed, tmp_path):
    """Of the published episodes all succeeded; the first two are played."""
    (published,) = json.loads((RESULTS / "place-torch-contrast.json").read_text())["methods"]
    assert published["successes"] == published["episodes"]
    settings = ["--phase", "sight", "--begin", "reference", "--margin", ".1", "--mask", "none", "--no-film"]
    plan = ["plan", published["method"], "--task", "minetest/place-torch", "--episodes", "2", "--baselines", ""]
    command = [sys.executable, "-m", "actswm", *plan, *settings, "--out", "plans", "--json", "plans.json"]
    played = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert played.returncode == 0, played.stderr
    (result,) = json.loads((tmp_path / "plans.json").read_text())["methods"]
    assert (result["successes"], result["lost"]) == (2, 0)
