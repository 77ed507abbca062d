"""Models on the hub: put there and fetched again, against a stand-in on loopback."""

import os
import subprocess
import sys

import pytest
import yaml

from actswm import hub
from actswm.errors import UserError
from actswm.model.card import model_card
from actswm.saved_models import SHIPPED, locate, shipped_names

from .made.hub_server import Hub
from .made.serving import serving
from .model.small_models import disturbed, small_config

PUT_AND_FETCH = """
import torch
from actswm import WorldModel
from actswm.saved_models import locate
from tests.model.small_models import disturbed, small_config

model = disturbed(small_config())
provenance = {"licence": "MIT", "data": {"source": "made/square"}, "steps": 7, "validation": {"shuffled_gap": .5}}
model.save_pretrained("first", provenance, push_to_hub="me/square")
again = WorldModel.from_pretrained("me/square")
assert all(torch.equal(one, other) for one, other in zip(model.state_dict().values(), again.state_dict().values()))
first = locate("me/square").name
disturbed(small_config(), 1).save_pretrained("second", push_to_hub="me/square")
old = WorldModel.from_pretrained(f"me/square@{first}")
assert torch.equal(old.predictor.positions, model.predictor.positions)
print(locate("freedoom-maze/contrast"))
"""
FETCH = """
import sys
from actswm.errors import UserError
from actswm.saved_models import read_config
for name in sys.argv[1:]:
    try:
        print(read_config(name)["provenance"].get("steps"))
    except UserError as error:
        print(error)
"""


def run(program, folder, *arguments, **environment):
    """In a process of its own: huggingface_hub reads its environment once."""
    given = {
        "HF_HOME": str(folder / "hub"),
        "HF_HUB_OFFLINE": "0",
        "HF_TOKEN": "hf_made",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    paths = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=os.environ | given | {"PYTHONPATH": paths} | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Retrying" not in done.stderr, "where nobody answers is asked once"
    return done.stdout.splitlines()


@pytest.mark.filterwarnings("ignore")
def test_there_and_back_and_without_a_connection(tmp_path):
    pytest.importorskip("huggingface_hub")
    with serving(Hub()) as server:
        (shipped,) = run(PUT_AND_FETCH, tmp_path, HF_ENDPOINT=server.address)
        assert shipped == str(SHIPPED / "freedoom-maze" / "contrast"), (
            "no repository takes a shipped model's name"
        )
        assert list(server.repositories) == ["me/square"] and server.tokens == {"Bearer hf_made"}
        first, files = server.repositories["me/square"][1:]
        assert set(files) == {"config.json", "model.safetensors", "README.md"}
        _, front, text = first["README.md"].decode().split("---\n", 2)
        told = yaml.safe_load(front)
        assert told["license"] == "mit" and "made/square" in told["tags"] and told["library_name"] == "actswm"
        (result,) = told["model-index"][0]["results"]
        assert result["metrics"][0]["value"] == 0.5 and result["dataset"]["type"] == "made/square"
        assert 'from_pretrained("me/square")' in text and "steps: `7`" in text
        names = ("me/absent", "me/square@none", "me/square", "freedoom-maze/absent")
        absent, revision, second, misspelt = run(FETCH, tmp_path, *names, HF_ENDPOINT=server.address)
    assert "the Hugging Face hub has no me/absent" in absent
    assert "has no revision 'none'" in revision and second == "None"
    assert "hub" not in misspelt and "did you mean" in misspelt
    gone = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_ETAG_TIMEOUT": "2"}
    kept, unreachable = run(FETCH, tmp_path, "me/square", "me/other", **gone)
    assert (
        kept == "None" and "the Hugging Face hub cannot be reached" in unreachable and "\n" not in unreachable
    )


def test_a_mistyped_run_is_looked_for_nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    monkeypatch.setattr(hub, "fetched", None)
    with pytest.raises(UserError, match="runs/mine: not a saved model"):
        locate("runs/mine")
    for name in ("../x", "a/b/c", "model", "a/b@", "/abs/x", "user/.."):
        assert not hub.may_be_on_hub(name)


def test_what_is_no_name_on_the_hub_is_told(tmp_path):
    with pytest.raises(UserError, match="'mine' is no name"):
        disturbed(small_config()).save_pretrained(tmp_path / "mine", push_to_hub="mine")


@pytest.mark.parametrize("name", shipped_names())
def test_the_cards_of_shipped_models_have_front_matter(name):
    _, front, text = (SHIPPED / name / "README.md").read_text().split("---\n", 2)
    told = yaml.safe_load(front)
    assert told["license"] == "mit" and told["model-index"][0]["results"][0]["metrics"]
    assert f'from_pretrained("{name}")' in text and "## How it was trained" in text


def test_a_card_of_many_recordings_is_short():
    source = " + ".join(f"freedoom/map{number:02}" for number in range(1, 30))
    card = model_card(disturbed(small_config()), {"data": {"source": source}, "validation": {"above_copy": 0.1}})
    front = yaml.safe_load(card.split("---\n")[1])
    assert front["tags"][3:] == source.split(" + ")
    assert front["model-index"][0]["results"][0]["dataset"]["name"] == "freedoom/map01 and 28 more"
    assert max(map(len, card.splitlines())) < 700 and "the rest is in config.json" in card


def test_a_card_of_little_provenance():
    card = model_card(disturbed(small_config()), {})
    assert yaml.safe_load(card.split("---\n")[1])["tags"] == ["world-model", "jepa", "games"]
