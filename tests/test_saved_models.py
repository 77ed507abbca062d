"""What can be known of a saved model without loading it."""

import shutil

import pytest
from typer.testing import CliRunner

from actswm import WorldModel
from actswm.cli.main import app
from actswm.errors import UserError
from actswm.saved_models import SHIPPED, SHIPPED_LICENCE, WEIGHTS_FILE, locate, shipped_names, summary


@pytest.mark.parametrize("name", shipped_names())
def test_every_shipped_model_says_what_it_is(name):
    told = summary(name)
    assert told.name == name
    assert name.startswith(told.game.split("/")[0])
    assert told.image_size == 64 and told.licence == SHIPPED_LICENCE and told.steps > 0
    assert {"drift_gap", "shuffled_gap", "above_copy"} <= set(told.scores)


def test_parameters_are_counted_as_torch_counts_them():
    model = WorldModel.from_pretrained("freedoom-maze/contrast")
    counted = sum(each.numel() for each in model.parameters())
    assert abs(summary("freedoom-maze/contrast").parameters - counted) < 100  # a few buffers count as well


def test_the_licence_is_that_of_the_file():
    assert f"under the {SHIPPED_LICENCE} licence" in (SHIPPED / "LICENSE").read_text()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("freedoom-maze/contrats", ["freedoom-maze/contrast"]),
        ("contrast", ["freedoom-maze/contrast", "freedoom-room/contrast"]),
        ("freedoom/maze/contrast", ["freedoom-maze/contrast"]),
        ("lewm-rolout", ["openarena-oa_dm1/lewm-rollout", "minetest-tasks/lewm-rollout"]),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(name, meant):
    with pytest.raises(UserError, match="did you mean") as told:
        locate(name)
    for each in meant:
        assert repr(each) in str(told.value)


def test_a_name_like_none_gets_them_all():
    with pytest.raises(UserError, match="not one that ships: freedoom-maps/contrast, freedoom-maze/actswm, "):
        locate("zzz")


@pytest.mark.parametrize(
    "damage", [b"", b"\x10", b"\xff" * 64, b"\x04" + bytes(7) + b"[]  ", b"\x02" + bytes(7) + b"{}"]
)
def test_weights_that_are_none_are_told(tmp_path, damage):
    folder = tmp_path / "model"
    shutil.copytree(locate("freedoom-maze/contrast"), folder)
    (folder / WEIGHTS_FILE).write_bytes(damage)
    with pytest.raises(UserError, match="no safetensors file"):
        summary(folder)


def test_the_command_lists_them_all():
    shown = CliRunner().invoke(app, ["models"], env={"COLUMNS": "40"})
    assert shown.exit_code == 0
    lines = {line.split()[0]: line for line in shown.output.splitlines() if "/" in line.split(" ")[0]}
    assert list(lines) == shipped_names()
    assert (
        lines["freedoom-maze/contrast"].split()[1:]
        == "freedoom/maze 1.83 M, 3.7 MB 0.53 0.52 0.54 MIT".split()
    )


def test_the_command_lists_some_or_says_that_there_are_none():
    assert "minetest" not in CliRunner().invoke(app, ["models", "maze"]).output
    assert isinstance(CliRunner().invoke(app, ["models", "zzz"]).exception, UserError)
