"""The command line starts without anything heavy, and every help text shows how."""

import json
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from actswm.cli.main import app

HEAVY = {
    *("torch", "lightning", "cv2", "av", "h5py", "hdf5plugin", "numpy", "matplotlib", "gymnasium", "vizdoom"),
    *("omegaconf", "safetensors", "mcap", "jinja2", "yaml", "Xlib"),
}
PROGRAM = """
import json, sys
sys.argv = ["actswm", *json.loads(sys.argv[1])]
from actswm.cli.main import app
try:
    app()
except SystemExit as ended:
    code = ended.code
sys.stderr.write(json.dumps({"code": code, "modules": sorted({name.split(".")[0] for name in sys.modules})}))
"""


def commands(command, path=()):
    """Every command with its words, groups included."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


EVERY = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("words", [(), ("play",), ("bench",)], ids=" ".join)
def test_help_imports_nothing_heavy(words):
    arguments = json.dumps([*words, "--help"])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, arguments], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stderr)
    assert not told["code"] and "Usage: actswm" in done.stdout
    assert not HEAVY & set(told["modules"])


@pytest.mark.parametrize(
    "words",
    [
        ("train", "small/contrats", "--data", "no.h5"),
        ("train", "small/contrast", "--data", "no.h5"),
        ("drift", "freedoom-maze/contrats", "--data", "no.h5"),
        ("plan", "no/model", "--task", "freedoom/follow-room"),
        ("recover", "freedoom-maze/contrast", "--data", "no.h5"),
        ("plan", "--task", "freedoom/follow-room", "--cost", "dear"),
        ("plan", "freedoom-room/contrast", "--task", "freedoom/follow-rom"),
        ("plan", "freedoom-room/contrast", "--task", "freedoom/follow-room", "--library", "keys14/folow"),
        ("strip", "freedoom-maze/contrast", "--data", __file__, "--out", "strip.png"),
    ],
    ids=" ".join,
)
def test_what_is_wrong_at_sight_is_refused_before_torch_is_loaded(words):
    program = PROGRAM.replace(
        "except SystemExit as ended:\n    code = ended.code",
        "except BaseException as ended:\n    code = repr(ended)",
    )
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(words)], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stderr.splitlines()[-1])
    assert told["code"] and not {"torch", "lightning"} & set(told["modules"])


@pytest.mark.parametrize("words", EVERY, ids=lambda words: " ".join(words) or "actswm")
def test_every_help_text_has_an_example(words):
    shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    text = " ".join(shown.output.split())
    assert f"{' '.join(['Example: actswm', *words])} " in text


@pytest.mark.parametrize("words", EVERY, ids=lambda words: " ".join(words) or "actswm")
def test_a_wrong_option_is_answered_in_one_line(words):
    shown = CliRunner().invoke(app, [*words, "--bogus"], prog_name="actswm")
    assert shown.exit_code == 2 and shown.stdout == ""
    line = shown.stderr.removesuffix("\n")
    assert line.startswith("actswm: No such option: --bogus") and "\n" not in line
    assert line.endswith(f"; see {' '.join(['actswm', *words])} --help")


def test_every_integer_option_says_how_small_it_may_be():
    """So that a count of -1 is refused before any work."""
    least = {
        (*words, option.name): option.min
        for words, command in EVERY.items()
        for option in command.params
        if option.type_descriptor.annotation is int
    }
    assert len(least) > 60
    assert [" ".join(words) for words, low in least.items() if low is None] == []
