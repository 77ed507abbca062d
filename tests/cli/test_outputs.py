"""An output that cannot be written ends in one line, whichever command writes it, and leaves nothing half done."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from actswm.cli.main import app
from actswm.errors import UserError

from ..model.small_models import disturbed, small_config

COMMANDS = {
    "merge": "merge {data} --out {out}.h5",
    "inspect": "inspect {data} --sheet {out}.png",
    "record": "record freedoom/room --steps 20 --size 16 --out {out}.h5",
    "train": "train tiny/lewm --data {data} --out {out} training.steps=1 --quiet",
    "export": "export {model} --out {out}",
    "drift": "drift {model} --data {data} --windows 4 --context 4 --horizon 4 --json {out}.json",
    "idm": "idm --data {data} --steps 1 --size 32 --out {out}",
    "recover": "recover {model} --data {data} --windows 2 --steps 2 --json {out}.json",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return disturbed(small_config()).save_pretrained(tmp_path_factory.mktemp("model"))


def full_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))  # torch tries its temporary folder with a few bytes


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("why", ["a file in the way", "no room"])
def test_an_output_that_cannot_be_written(
    model: Path, square_file: Path, tmp_path: Path, command: str, why: str
):
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    out = in_the_way / "out" if why == "a file in the way" else tmp_path / "out"
    words = COMMANDS[command].format(data=square_file, model=model, out=out).split()
    run = subprocess.run(
        [sys.executable, "-m", "actswm", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=full_disk if why == "no room" else None,
    )
    said = [line for line in run.stderr.splitlines() if line.startswith("actswm: ")]
    assert run.returncode == 2 and len(said) == 1 and "Traceback" not in run.stderr, run.stderr
    assert "out" in said[0] and ("cannot be written" in said[0] or "make room" in said[0])
    left = {path.name for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size}
    assert not left


@pytest.mark.parametrize(
    "command",
    ["merge {data}", "record freedoom/room --steps 8", "clean {data}", "import vpt {data}", "report {data}"],
)
def test_a_folder_is_no_file_to_write(square_file: Path, command: str):
    with pytest.raises(UserError, match=r"\.: is a folder; name a file"):
        app([*command.format(data=square_file).split(), "--out", "."], standalone_mode=False)
