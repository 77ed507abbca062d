"""Datasets on the Hugging Face hub, as far as its stand-in on loopback can tell."""

import os
import subprocess
import sys

import numpy as np
import pytest

from actswm import remote
from actswm.data import open_checked

from ..data.test_sharded import LENGTHS, write
from ..made.hub_server import Hub
from ..made.serving import serving

pytest.importorskip("huggingface_hub")

OPEN = """
import sys
from actswm import remote
from actswm.data import open_checked
from actswm.errors import UserError
remote._BLOCK = 16384
for name in sys.argv[1:]:
    try:
        with open_checked(name) as file:
            print(file.num_frames, int(file.column("pixels").sum()))
    except UserError as error:
        print(error)
"""


@pytest.fixture
def shards(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "shards").mkdir()
    files = [write(tmp_path / "shards" / f"{n}.h5", lengths, rng) for n, lengths in enumerate(LENGTHS)]
    return tmp_path / "shards", {f"run/{file.name}": file.read_bytes() for file in files}


def said(tmp_path, server, *names):
    """In a process of its own: huggingface_hub reads its environment once."""
    given = {
        "HF_ENDPOINT": server,
        "HF_HOME": str(tmp_path / "hub"),
        "HF_HUB_OFFLINE": "0",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        remote.CACHE: str(tmp_path / "cache"),
    }
    done = subprocess.run([sys.executable, "-c", OPEN, *names], env=os.environ | given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_a_dataset_on_the_hub(shards, tmp_path):
    folder, files = shards
    with open_checked(folder) as file:
        whole = f"{file.num_frames} {int(file.column('pixels').sum())}"
    with open_checked(folder / "1.h5") as file:
        one = f"{file.num_frames} {int(file.column('pixels').sum())}"
    with serving(Hub()) as server:
        server.repositories["datasets/me/games"] = [{**files, "run/notes.txt": b"", "run/deep/3.h5": b""}]
        server.cuts = 1
        names = ("hf://datasets/me/games/run", "hf://datasets/me/games/run/1.h5", "hf://datasets/me/games/run/[1].h5")
        assert said(tmp_path, server.address, *names) == [whole, one, one]
        assert {name for name, _ in server.reads} == set(files), "these and nothing else"
        assert server.cuts == 0
        server.reads.clear()
        assert said(tmp_path, server.address, names[0]) == [whole]
        assert server.reads == [], "nothing is got twice"
        changed = (folder / "1.h5").read_bytes()
        server.repositories["datasets/me/games"].append(files | {"run/2.h5": changed})
        (frames,) = said(tmp_path, server.address, names[0])
        assert frames.split()[0] == str(sum(sum(LENGTHS[n]) for n in (0, 1, 1)))
        assert {name for name, _ in server.reads} == {"run/2.h5"}
        absent, other, none = said(
            tmp_path,
            server.address,
            "hf://datasets/me/absent/run",
            "hf://datasets/me/games/absent",
            "hf://datasets/me/games/run/notes.h5",
        )
    for line in (absent, other, none):
        assert "there is no such file or folder, or no such repository" in line


def test_without_a_connection(tmp_path):
    (line,) = said(tmp_path, "http://127.0.0.1:9", "hf://datasets/me/games/run")
    assert line.startswith("hf://datasets/me/games/run: cannot be read (") and line.endswith("run again to go on")
