"""What a game recorded as OWAMcap, cleaned, is what it recorded as a dataset file."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from actswm.controls import vocabulary_of
from actswm.curation.domains import domain_of
from actswm.curation.run import RunOptions, clean
from actswm.curation.settings import CleanSettings
from actswm.curation.sources import find_items
from actswm.data import DatasetFile, validate
from actswm.games.episodes import RecordingPlan
from actswm.games.recording import record

minetest = pytest.mark.skipif(
    os.environ.get("ACTSWM_REQUIRE_GAMES") != "1"
    and not shutil.which("minetest", path=f"{os.environ['PATH']}:/usr/games:/usr/local/games"),
    reason="Minetest is not installed",
)


@pytest.mark.parametrize(
    ("game", "steps", "options"),
    [
        pytest.param("freedoom/maze", 600, {}, id="freedoom"),
        pytest.param("minetest/terrain", 160, {}, id="minetest", marks=minetest),
        pytest.param(
            "minetest/terrain", 160, {"vocabulary": "minecraft"}, id="minetest-degrees", marks=minetest
        ),
    ],
)
def test_recorded_twice_cleaned_once(tmp_path: Path, game: str, steps: int, options: dict[str, str]) -> None:
    behaviour = "random" if options else "explorer"
    plan = RecordingPlan(
        game, seed=3, size=(128, 128), episode_steps=steps // 2, behaviour=behaviour, options=options
    )
    record(plan, steps, tmp_path / "direct.h5", owamcap=tmp_path / "owamcap")
    with DatasetFile(tmp_path / "direct.h5") as direct:
        vocabulary = vocabulary_of(direct.vocabulary.name)
    settings = CleanSettings(domain_of("games"), vocabulary, judge="none")
    report = clean(
        find_items("owamcap", [tmp_path / "owamcap"]), tmp_path / "cleaned.h5", settings, RunOptions()
    )
    assert not report.failures and not report.dropped
    validate(tmp_path / "cleaned.h5")
    with DatasetFile(tmp_path / "direct.h5") as direct, DatasetFile(tmp_path / "cleaned.h5") as cleaned:
        assert cleaned.ep_len.tolist() == direct.ep_len.tolist() and cleaned.fps == direct.fps
        same = np.isclose(cleaned.action, direct.action, atol=0.006).all(1)
        assert same.mean() >= 0.995 and direct.action.any()
        error = np.abs(cleaned.pixels[:].astype(int) - direct.pixels[:])
        assert error.mean() < 3 and np.percentile(error, 99) < 20
        # The frames are this step's own, not a neighbour's.
        wrong = np.abs(cleaned.pixels[1:].astype(int) - direct.pixels[:-1]).mean((1, 2, 3))
        right = error[1:].mean((1, 2, 3))
        moved = np.abs(np.diff(direct.pixels[:].astype(int), axis=0)).mean((1, 2, 3)) > 6
        assert moved.sum() > 20 and (right[moved] < wrong[moved]).all()
