"""The tutorial runs once; the other pages find what it made in their working directories."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from ..curation.test_importers import minestudio, step, write_vpt
from .blocks import ROOT, blocks_of
from .running import run_block

TUTORIAL = ROOT / "docs" / "tutorial.md"


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the whole tutorial was followed; shared by all processes of a parallel test run."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = shared / "studio", shared / "studio.done"
    with open(shared / "studio.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for block in blocks_of(TUTORIAL):
                if block.runs:
                    run_block(block, folder)
            _recordings_of_others(folder)
            done.touch()
    return folder


def _recordings_of_others(folder: Path) -> None:
    """What no game here makes: VPT and MineStudio files."""
    (folder / "contractor").mkdir()
    write_vpt(folder / "contractor", [step(keys=["key.keyboard.w"])] * 40)
    minestudio(folder / "datasets" / "6xx")


@pytest.fixture
def workplace(studio: Path, tmp_path: Path) -> Path:
    """A page's own folder: room.h5, a trained model and recordings are there already."""
    for name in ("room.h5", "runs/room", "recordings", "contractor", "datasets"):
        source, target = studio / name, tmp_path / name
        target.parent.mkdir(exist_ok=True)
        copy = shutil.copytree if source.is_dir() else shutil.copy2
        copy(source, target)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")  # as in a clone
    return tmp_path
