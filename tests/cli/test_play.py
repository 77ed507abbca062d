"""`actswm play` with arguments that do not fit: one line, exit code 2, nothing left."""

import socket

import pytest

from ..model.small_models import disturbed, small_config
from .test_plan import actswm


@pytest.fixture
def folder(tmp_path, square_file, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "square.h5").symlink_to(square_file)
    disturbed(small_config()).save_pretrained(tmp_path / "model")
    disturbed(small_config(vocabulary="minecraft")).save_pretrained(tmp_path / "other")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["freedoom/rom"], "the nearest known one is 'freedoom/room'"),
        (["freedoom/room", "--model", "model"], "model: has no decoder that draws what it imagines"),
        (["freedoom/room", "--data", "square.h5"], "name the model with --model"),
        (["freedoom/room", *3 * ["--model", "model"]], "3 are named; 2 fit side by side"),
        (["freedoom/room", "--model", "absent", "--data", "square.h5"], "absent"),
        (["freedoom/room", "--model", "model", "--data", "absent.h5"], "absent.h5: no such dataset file"),
        (["freedoom/room", "--model", "other", "--data", "square.h5"], "the model speaks 'minecraft'"),
        (["freedoom/room", "--model", "model", "--data", "square.h5", "--size", "64"], "frames of 16 pixels"),
        (["freedoom/room", "--model", "model", "--data", "square.h5", "--steps", "1,x"], "--steps '1,x'"),
        (["freedoom/room", "--controls", "Fly"], "unknown control 'Fly'"),
        (["freedoom/room", "--record", "square.h5"], "square.h5: was recorded with seed None, not 0"),
        (
            ["freedoom/room", "--save", "new.h5", "--port", "{taken}"],
            "Address already in use; choose another",
        ),
    ],
)
def test_bad_input_is_one_line(monkeypatch, capsys, folder, arguments, message):
    before = set(folder.iterdir())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        given = [argument.format(taken=port) for argument in arguments]
        code, out, err = actswm(monkeypatch, capsys, "play", *given)
    assert code == 2 and not out and message in err and len(err.strip().splitlines()) == 1
    assert set(folder.iterdir()) == before
