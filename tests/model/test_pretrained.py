import json
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file

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


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_neither_read_nor_written(saved, tmp_path, value):
    model, folder = saved
    state = load_file(folder / "model.safetensors")
    state["predictor.positions"][0, 1] = value
    save_file(state, folder / "model.safetensors")
    with pytest.raises(UserError, match=r"model\.safetensors: 1 of \d+ values of predictor\.positions are not finite"):
        WorldModel.from_pretrained(folder)
    with torch.no_grad():
        model.predictor.positions[0, 1] = value
    with pytest.raises(UserError, match="not written: 1 of"):
        model.save_pretrained(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_weights_too_large_for_half_precision_are_not_halved(saved, tmp_path):
    model, _ = saved
    with torch.no_grad():
        model.predictor.positions[0, 1] = 1e5
    with pytest.raises(UserError, match="too large for float16"):
        model.save_pretrained(tmp_path / "half", half=True)
    model.save_pretrained(tmp_path / "full")


@pytest.mark.parametrize(
    "text",
    [
        "null", "[]", '"x"', "1e999", "[" * 100_000, '{"a":' * 100_000, '{"model": null}',
        '{"model": {}, "control_names": 3, "provenance": {}}',
    ],
)  # fmt: skip
def test_a_config_that_is_none_is_named(saved, text):
    _, folder = saved
    (folder / "config.json").write_text(text)
    with pytest.raises(UserError, match=r"config\.json: "):
        WorldModel.from_pretrained(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("vocabulary", "${oc.env:HOME}"), ("latent_dim", 10**9), ("latent_dim", -1), ("latent_dim", 0),
        ("frameskip", 0), ("image_size", "x"), ("conv", None), ("predictor", [1]),
        ("latent_dim", 10**400), ("conv", {"channels": []}),
    ],
)  # fmt: skip
def test_settings_that_make_no_model_are_named(saved, key, value):
    _, folder = saved
    content = json.loads((folder / "config.json").read_text())
    content["model"][key] = value
    (folder / "config.json").write_text(json.dumps(content))
    with pytest.raises(UserError, match=r"config\.json"):
        WorldModel.from_pretrained(folder)


def test_loading_does_not_wake_torchs_compiler(saved, tmp_path):
    """It takes seconds, and leaves a folder behind."""
    _, folder = saved
    code = f"import sys; from actswm import WorldModel; WorldModel.from_pretrained({str(folder)!r})\n"
    subprocess.run([sys.executable, "-c", f"{code}assert 'torch._dynamo' not in sys.modules"], check=True)
