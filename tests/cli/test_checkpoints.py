from pathlib import Path

import pytest

from actswm import saved_models
from actswm.cli.checkpoints import _short_names, load_checkpoints
from actswm.errors import UserError

from ..model.small_models import disturbed, small_config


def test_a_run_goes_by_its_folder_and_shipped_weights_by_their_whole_name(tmp_path, monkeypatch):
    monkeypatch.setattr(saved_models, "SHIPPED", tmp_path / "weights")
    for folder in ("weights/freedoom-maze/actswm", "runs/own/model"):
        disturbed(small_config()).save_pretrained(tmp_path / folder)
    paths = [
        Path("freedoom-maze/actswm"),
        tmp_path / "runs" / "own",
        tmp_path / "weights/freedoom-maze/actswm",
    ]
    names = [load_checkpoints([path])[0].name for path in paths]
    assert names == ["freedoom-maze/actswm", "own", "freedoom-maze/actswm"]


def test_runs_of_one_name_go_by_the_ends_of_their_paths(tmp_path):
    """Never by a whole path: results are written to files of these names."""
    paths = [tmp_path / folder for folder in ("room/seed1/plus", "maze/seed1/plus", "maze/seed1/lewm")]
    for path in paths:
        disturbed(small_config()).save_pretrained(path / "model")
    names = [checkpoint.name for checkpoint in load_checkpoints(paths)]
    assert names == ["room/seed1/plus", "maze/seed1/plus", "maze/seed1/lewm"]
    near_root = [Path("/runs/plus"), Path("/home/runs/plus")]
    assert _short_names(near_root) == ["runs/plus", "home/runs/plus"]
    with pytest.raises(UserError, match="twice"):
        load_checkpoints([paths[0], paths[0] / "model"])
