"""Results have one form on disk, and what was written with an earlier one still opens."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from actswm.errors import UserError
from actswm.intervals import NOTHING, Estimate
from actswm.origin import Origin
from actswm.results import (
    KINDS,
    EpisodeResult,
    Plan,
    Provenance,
    TrainingData,
    read_result,
    result_tree,
    save_result,
)
from actswm.results.form import decode, encode

PUBLISHED = Path(__file__).parents[2] / "results"
OLD = Path(__file__).parent / "version-1"


def figures(tree, place=()):
    """Every number and text of a tree by its place."""
    if isinstance(tree, dict | list):
        inside = tree.items() if isinstance(tree, dict) else enumerate(tree)
        return {at: leaf for key, each in inside for at, leaf in figures(each, (*place, key)).items()}
    return {place: tree}


@pytest.mark.parametrize("path", sorted(OLD.iterdir()), ids=lambda path: path.stem)
def test_results_of_the_first_version_open_with_every_figure(path, tmp_path):
    tree = json.loads(path.read_text())
    result = read_result(path)
    assert type(result) is KINDS[tree["kind"]]
    save_result(tmp_path / "again.json", result)
    assert read_result(tmp_path / "again.json") == result or "null" in path.read_text()  # NaN is not itself
    old, new = figures(tree), figures(json.loads((tmp_path / "again.json").read_text()))
    moved = {("options", "seed"): ("seed",)}
    moved |= {at: (*at[:-1], "mean_gain") for at in old if at[-1] == "mean_confidence"}
    for at, value in old.items():
        found = new.get(moved.get(at, at))
        assert found == (round(value, 6) if isinstance(value, float) else value), at
    assert new["version",] == 2


def test_every_published_result_opens():
    found = [path for path in PUBLISHED.glob("*/*.json") if "bench" not in path.name]
    assert len(found) >= 37
    for path in found:
        assert read_result(path), path


def test_what_is_saved_comes_back(tmp_path):
    origin = Origin("actswm plan", "0123456789ab", "2 cores", 7)
    plan = Plan("freedoom/follow-room", (), origin)
    save_result(tmp_path / "plan.json", plan)
    assert read_result(tmp_path / "plan.json") == plan
    tree = result_tree(plan)
    assert tree == {
        "kind": "plan", "version": 2, "task": "freedoom/follow-room", "methods": [], "command": "actswm plan",
        "commit": "0123456789ab", "machine": "2 cores", "seed": 7,
    }  # fmt: skip
    data = TrainingData("f.h5", "freedoom/room", 9, 1, 8.75, (64, 64), {"a": [1]})
    told = Provenance(data, 3, {"loss": 0.5}, 2.0, origin)
    assert decode(Provenance, json.loads(json.dumps(encode(told)))) == told


def test_episodes_keep_every_digit():
    episode = EpisodeResult("m", "t", 0, True, 1, 4, ("go",), (None, 1 / 3), 0.1, 1, {"weights": "x", "tiny": 1e-9})
    assert decode(EpisodeResult, json.loads(json.dumps(encode(episode, digits=None)))) == episode


def test_no_number_is_null():
    assert encode(NOTHING) == {"mean": None, "low": None, "high": None}
    assert math.isnan(decode(Estimate, encode(replace(NOTHING, mean=1.0))).low)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 3}, "its version is 3, and this actswm knows 2 and older ones"),
        ({"task": None}, "task is null, not text"),
        ({"methods": {}}, "methods is an object, not a list"),
        ({"seed": True}, "seed is not a whole number that fits"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, change, message):
    tree = {**json.loads((OLD / "plan.json").read_text()), **change}
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(tree))
    with pytest.raises(UserError, match=f"plan.json: this plan result is damaged .{message}.; write it again"):
        read_result(path)


def test_a_share_beyond_one_is_named(tmp_path):
    tree = json.loads((OLD / "plan.json").read_text())
    tree["methods"][0]["low"] = 1.5
    (tmp_path / "plan.json").write_text(json.dumps(tree))
    with pytest.raises(UserError, match="low is not between 0 and 1"):
        read_result(tmp_path / "plan.json")
