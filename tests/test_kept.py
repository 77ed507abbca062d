"""What this version writes still opens in later ones: a small dataset, model, run and results, kept as they were.

A format that changes gets new files beside these. The run stopped after 2 of 4 steps.
"""

import json
import shutil
from pathlib import Path

import pytest
import torch

from actswm import Context, DatasetFile, WorldModel
from actswm.data import validate
from actswm.report.sources import gather
from actswm.results import KINDS, read_result, save_result
from actswm.training import load_config, train

KEPT = Path(__file__).parent / "kept"
SMALL = (
    "model.image_size=16 model.latent_dim=8 model.conv.channels=[8,8] model.conv.hidden=8 model.projector_hidden=8 "
    "model.predictor.heads=1 model.predictor.mlp=8 model.predictor.depth=1 model.readout.hidden=8 training.steps=4 "
    "training.threads=1 training.batch=4"
).split()


def test_a_dataset_opens_with_every_row():
    validate(KEPT / "square.h5")
    with DatasetFile(KEPT / "square.h5") as file:
        assert (file.num_episodes, file.num_frames, file.source, file.fps) == (10, 480, "made/square", 20.0)
        assert (file.pixels[:].sum(), file.action.sum()) == (10_291_200, 597)
        assert (file.column("seed") == file.episode_idx).all()


def test_a_model_imagines_the_same():
    model = WorldModel.from_pretrained(KEPT / "run" / "model")
    with DatasetFile(KEPT / "square.h5") as file:
        frames = torch.from_numpy(file.pixels[:16:4])[None]
        steps = torch.from_numpy(model.encoding.step_actions(file.action[:20]))
    with torch.no_grad():
        last = model.rollout(Context(model.encode(frames), steps[None, :3]), steps[None, None, 3:])[0, 0, -1]
    expected = [-0.0045, -0.309, 0.2231, -0.0819, -0.3924, 0.0558, -0.2126, -0.0709]
    assert last.tolist() == pytest.approx(expected, abs=2e-4)


def test_a_run_goes_on_where_it_stopped(tmp_path):
    shutil.copytree(KEPT / "run", tmp_path / "run")
    result = train(load_config("tiny/lewm-rollout", SMALL), KEPT / "square.h5", tmp_path / "run", resume=True)
    logged = [line.split(",")[0] for line in (tmp_path / "run" / "logs" / "metrics.csv").read_text().splitlines()]
    assert result.steps == 4 and logged[:2] == ["step", "2"] and logged[-1] == "4"
    assert gather([tmp_path / "run"]).runs


@pytest.mark.parametrize("path", sorted((KEPT / "results").iterdir()), ids=lambda path: path.stem)
def test_a_result_opens_and_is_written_as_it_was(path, tmp_path):
    result = read_result(path)
    assert type(result) is KINDS[json.loads(path.read_text())["kind"]]
    save_result(tmp_path / "again.json", result)
    assert (tmp_path / "again.json").read_text() == path.read_text()
