import json

import pytest
import torch
from safetensors.torch import load_file

from actswm import WorldModel
from actswm.errors import UserError

from .small_models import disturbed, random_context, small_config


@pytest.fixture
def saved(tmp_path):
    model = disturbed(small_config(vocabulary="minecraft", encoding="sliding", frameskip=2))
    model.action_scale[-1] = 3.5
    model.save_pretrained(tmp_path / "model", {"command": "made in a test", "seed": 7})
    return model, tmp_path / "model"


def test_round_trip(saved):
    model, folder = saved
    loaded = WorldModel.from_pretrained(folder)
    assert not loaded.training and loaded.config == model.config
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, loaded.state_dict()[name]), name
    context, actions = random_context(model, 1, 3), torch.rand(1, 2, 3, 22)
    with torch.no_grad():
        assert torch.equal(model.rollout(context, actions), loaded.rollout(context, actions))
    card = (folder / "README.md").read_text()
    assert "made in a test" in card and "from_pretrained" in card and "pitch" in card


def test_half_precision_files_are_half_the_size(saved, tmp_path):
    model, _ = saved
    model.save_pretrained(tmp_path / "half", half=True)
    assert all(t.dtype == torch.float16 for t in load_file(tmp_path / "half" / "model.safetensors").values())
    loaded = WorldModel.from_pretrained(tmp_path / "half")
    assert loaded.dtype == torch.float32
    torch.testing.assert_close(loaded.action_scale, model.action_scale)


def test_broken_folders_say_what_is_wrong(saved, tmp_path):
    _, folder = saved
    with pytest.raises(UserError, match="not a saved model"):
        WorldModel.from_pretrained(tmp_path / "nowhere")
    content = json.loads((folder / "config.json").read_text())

    (folder / "config.json").write_text(
        json.dumps({**content, "model": {**content["model"], "latent_dim": 13}})
    )
    with pytest.raises(UserError, match="does not fit"):
        WorldModel.from_pretrained(folder)
    (folder / "config.json").write_text(json.dumps({**content, "model": {**content["model"], "lattent": 13}}))
    with pytest.raises(UserError, match="lattent"):
        WorldModel.from_pretrained(folder)
    (folder / "config.json").write_text(json.dumps({**content, "control_names": ["W"]}))
    with pytest.raises(UserError, match="not those of vocabulary"):
        WorldModel.from_pretrained(folder)
    (folder / "config.json").write_text("{")
    with pytest.raises(UserError, match="not valid JSON"):
        WorldModel.from_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(content))
    (folder / "model.safetensors").unlink()
    with pytest.raises(UserError, match=r"has no model\.safetensors"):
        WorldModel.from_pretrained(folder)
