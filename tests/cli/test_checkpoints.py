from pathlib import Path

from actswm.cli.checkpoints import load_checkpoints
from actswm.model import pretrained

from ..model.small_models import disturbed, small_config


def test_a_run_goes_by_its_folder_and_shipped_weights_by_their_whole_name(tmp_path, monkeypatch):
    monkeypatch.setattr(pretrained, "SHIPPED", tmp_path / "weights")
    for folder in ("weights/freedoom-maze/actswm", "runs/own/model"):
        disturbed(small_config()).save_pretrained(tmp_path / folder)
    paths = [
        Path("freedoom-maze/actswm"),
        tmp_path / "runs" / "own",
        tmp_path / "weights/freedoom-maze/actswm",
    ]
    names = [load_checkpoints([path])[0].name for path in paths]
    assert names == ["freedoom-maze/actswm", "own", "freedoom-maze/actswm"]
