"""A decoder learns to draw what latents say, moves nothing of the model, and is refused beside other weights."""

import numpy as np
import pytest
import torch

from actswm.data import DatasetFile, sample_windows
from actswm.diagnosis.strip import livelier, strip_of
from actswm.errors import UserError
from actswm.model import WorldModel
from actswm.model.decoder import DECODER_FILE, Decoder, load_decoder, save_decoder
from actswm.report.strip_film import FilmRow, strip_pictures, write_strip
from actswm.training import load_config, train
from actswm.training.decoder import train_decoder


@pytest.fixture(scope="module")
def run(square_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    train(load_config("tiny/lewm-rollout", ["training.steps=10", "training.threads=1"]), square_file, folder)
    return folder / "model"


def test_it_learns_and_the_model_does_not(run, square_file, tmp_path):
    model = WorldModel.from_pretrained(run)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    _, first = train_decoder(model, square_file, frames=200, steps=1)
    decoder, later = train_decoder(model, square_file, frames=200, steps=120)
    assert later < 0.7 * first
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    save_decoder(decoder, model, tmp_path, {"command": "made here"})
    latents = torch.randn(3, model.config.latent_dim)
    drawn = load_decoder(model, tmp_path).draw(latents)
    assert drawn.shape == (3, *[model.config.image_size] * 2, 3) and drawn.dtype == np.uint8
    assert np.abs(drawn.astype(int) - decoder.draw(latents)).max() <= 2  # fp16

    with torch.no_grad():
        model.projector.contract.weight[0, 0] += 1
    with pytest.raises(UserError, match="other weights"):
        load_decoder(model, tmp_path)
    with torch.no_grad():
        decoder.lift.weight[0, 0] = torch.nan
    save_decoder(decoder, model, tmp_path, {})
    with pytest.raises(UserError, match=r"1 of \d+ values of lift\.weight are not finite"):
        load_decoder(model, tmp_path)
    (tmp_path / DECODER_FILE).write_bytes(b"nothing")
    with pytest.raises(UserError, match="not a decoder"):
        load_decoder(model, tmp_path)


def test_there_need_not_be_one(run):
    assert load_decoder(WorldModel.from_pretrained(run), run) is None


def test_the_shipped_one_belongs_to_its_model():
    from actswm.saved_models import locate

    model = WorldModel.from_pretrained("freedoom-maze/contrast")
    assert isinstance(load_decoder(model, locate("freedoom-maze/contrast")), Decoder)


def test_a_strip_shows_the_truth_and_three_futures(run, square_file, tmp_path):
    model = WorldModel.from_pretrained(run)
    decoder, _ = train_decoder(model, square_file, frames=50, steps=2)
    drawn = sample_windows(square_file, 12, split="all", context=4, horizon=3, frameskip=model.encoding.frameskip)
    sample = livelier(drawn, 2)
    assert len(sample) == 2 and set(sample.rows) <= set(drawn.rows)
    film = strip_of(model, decoder.draw, sample)
    assert [len(row.frames) for row in film.rows] == [2] * 4 and film.rows[2].held == (((),) * 3,) * 2
    with DatasetFile(square_file) as file:
        steps = sample.rows[0] + model.encoding.frameskip * np.arange(4)
        side = model.config.image_size
        if file.height == side:
            assert np.array_equal(film.rows[0].frames[0], file.frames(steps[1:]))
            assert np.array_equal(film.before[0, -1], file.frames(steps[:1])[0])
    rows = [FilmRow(row.title, row.frames, row.held, True) for row in film.rows]
    pictures = strip_pictures(film.before, rows, "title", "foot", 32)
    assert len({picture.shape for picture in pictures}) == 1
    for ending, sign in ((".gif", b"GIF8"), (".mp4", b"ftyp")):
        write_strip(pictures, tmp_path / f"s{ending}", 5)
        assert sign in (tmp_path / f"s{ending}").read_bytes()[:12]
