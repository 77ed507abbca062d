"""Names and attributes of other people's files are text, whatever they hold."""

import logging
import re
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import actswm.cli
from actswm.cli.main import app, main
from actswm.cli.printing import shown
from actswm.controls import KEYS14
from actswm.data import DatasetSpec, DatasetWriter

EVIL = "\x1b[2J\x1b]0;title\x07[bold red]room[/] \x9b31m\u202e:smile:"


def test_inspect_shows_escapes_and_markup_of_attributes(tmp_path):
    path = tmp_path / "evil.h5"
    with DatasetWriter(path, DatasetSpec(KEYS14, 16, 16, fps=20.0, source=EVIL, action_origin=EVIL)) as writer:
        writer.append(np.zeros((3, 16, 16, 3), np.uint8), np.zeros((3, 14), np.float32))
    out = CliRunner().invoke(app, ["inspect", str(path)]).output
    assert not re.search(r"[\x1b\x07\x9b\u202e]", out)
    told = "".join(out.split())
    assert told.count(r"\x1b[2J\x1b]0;title\x07[boldred]room[/]\x9b31m\u202e:smile:") == 2


def test_log_lines_are_text(capsys, monkeypatch):
    monkeypatch.setattr(logging.root, "handlers", [])
    main(verbose=False)
    logging.getLogger("actswm.test").warning("%s", EVIL)
    assert r"\x1b[2J" in (err := capsys.readouterr().err) and "\x1b" not in err


def test_what_cannot_be_encoded_is_written_out():
    assert shown("a\ud800b\tc\nd é") == "a\\ud800b\tc\nd é"


def test_commands_print_through_one_door():
    """`typer.echo`, `print` and rich's own console know nothing of other people's escapes."""
    for path in Path(actswm.cli.__file__).parent.glob("*.py"):
        if path.name != "printing.py":
            found = re.findall(r"typer\.echo\(|(?<![\w.])print\(|(?<!\w)Console\(", path.read_text())
            assert not found, f"{path.name}: use say or text_console"
