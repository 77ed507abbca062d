"""Weights copied from stable-worldmodel's LeWM must give what it gives."""

import re

import pytest
import torch

from actswm.data import DatasetFile
from actswm.errors import UserError
from actswm.integrations.stable_worldmodel import lewm_to_world_model, peer
from actswm.model import Context

from .lewm import make_lewm


@pytest.fixture(scope="module")
def pair():
    theirs = make_lewm()
    return theirs, lewm_to_world_model(theirs.state_dict(), vocabulary="keys14", frameskip=4)


def pixels(batch: int, frames: int) -> torch.Tensor:
    return torch.randint(0, 255, (batch, frames, 128, 128, 3), dtype=torch.uint8)


def as_peer_sees(frames: torch.Tensor) -> torch.Tensor:
    scaled = frames.permute(0, 1, 4, 2, 3).float() / 255
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    return (scaled - mean.view(3, 1, 1)) / std.view(3, 1, 1)


def close(mine: torch.Tensor, theirs: torch.Tensor) -> None:
    assert float((mine - theirs).abs().max() / theirs.abs().max()) < 1e-5


@torch.no_grad()
def test_encodings_and_one_step_predictions(pair):
    theirs, mine = pair
    frames, actions = pixels(2, 3), torch.rand(2, 3, 56)
    info = theirs.encode({"pixels": as_peer_sees(frames), "action": actions})
    close(mine.encode(frames), info["emb"])
    close(mine.predict(info["emb"], actions), theirs.predict(info["emb"], info["act_emb"]))


@torch.no_grad()
@pytest.mark.parametrize("frames", [1, 2, 3])
def test_rollouts_growing_and_sliding(pair, frames):
    """The peer pairs the first H actions with the context frames; the H-th is our first decision."""
    theirs, mine = pair
    context, sequences, horizon = pixels(1, frames), 4, 6
    actions = torch.rand(1, sequences, frames - 1 + horizon, 56)
    actions[:, :, : frames - 1] = actions[:, :1, : frames - 1]
    repeated = as_peer_sees(context).unsqueeze(1).expand(1, sequences, *as_peer_sees(context).shape[1:])
    expected = theirs.rollout({"pixels": repeated}, actions)["predicted_emb"][:, :, frames:]
    found = mine.rollout(
        Context(mine.encode(context), actions[:, 0, : frames - 1]), actions[:, :, frames - 1 :]
    )
    close(found, expected)


def test_older_checkpoints_have_other_names(pair):
    theirs, mine = pair
    older = {}
    for name, tensor in theirs.state_dict().items():
        for new, old in {
            r"encoder\.layers\.": "encoder.encoder.layer.",
            r"attention\.q_proj": "attention.attention.query",
            r"attention\.k_proj": "attention.attention.key",
            r"attention\.v_proj": "attention.attention.value",
            r"attention\.o_proj": "attention.output.dense",
            r"mlp\.fc1": "intermediate.dense",
            r"mlp\.fc2": "output.dense",
        }.items():
            if name.startswith("encoder."):
                name = re.sub(new, old, name)
        older[name] = tensor
    again = lewm_to_world_model(older, vocabulary="keys14", frameskip=4)
    for name, tensor in mine.state_dict().items():
        if not name.startswith("readout."):
            assert torch.equal(tensor, again.state_dict()[name])


def test_what_does_not_fit_is_refused(pair):
    theirs, _ = pair
    with pytest.raises(UserError, match="box<N> with N x frameskip = 56"):
        lewm_to_world_model(theirs.state_dict(), vocabulary="minecraft", frameskip=4)
    with pytest.raises(UserError, match="not a LeWM checkpoint"):
        lewm_to_world_model({"weight": torch.zeros(1)}, vocabulary="keys14", frameskip=4)
    assert lewm_to_world_model(theirs.state_dict(), vocabulary="box28", frameskip=2).config.frameskip == 2


def test_our_dataset_files_open_in_their_reader(square_file):
    make_lewm(depth=1)  # skips where the peer is absent
    dataset = peer("data.formats.hdf5").HDF5Dataset(path=square_file, frameskip=4, num_steps=5)
    item = dataset[3]
    with DatasetFile(square_file) as file:
        expected = torch.from_numpy(file.pixels[3:20:4]).permute(0, 3, 1, 2)
        assert torch.equal(item["pixels"], expected)
        assert item["action"].shape == (5, 56)
        assert len(dataset) == sum(length - 19 for length in file.ep_len)
