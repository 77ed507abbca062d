"""What pip installs holds all that the source tree does, and works where there is no source tree."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy: setuptools would take leftovers of an earlier build into it."""
    folder = tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", folder / "source" / "src", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder / "source")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        folder,
    ]
    subprocess.run([*command, folder / "source"], check=True)
    return next(folder.glob("*.whl"))


def test_every_file_of_the_package_is_in_it(wheel):
    files = (
        path for path in (ROOT / "src" / "actswm").rglob("*") if path.is_file() and path.suffix != ".pyc"
    )
    expected = {str(path.relative_to(ROOT / "src")) for path in files}
    assert len(expected) > 300
    assert expected - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_it_records_trains_and_diagnoses_elsewhere(wheel, tmp_path):
    """Presets, weights, templates and the games' files are found in what was installed."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "installed"), "OMP_NUM_THREADS": "1"}

    def run(*arguments):
        command = [sys.executable, "-m", "actswm", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = [sys.executable, "-c", "import actswm; print(actswm.__file__)"]
    found = subprocess.run(where, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout
    assert found.startswith(str(tmp_path / "installed"))
    run(
        "record",
        "freedoom/room",
        "--steps",
        "600",
        "--size",
        "64",
        "--episode-steps",
        "150",
        "--out",
        "room.h5",
    )
    settings = ("training.steps=2", "training.threads=1", "model.image_size=64", "--quiet")
    run("train", "tiny/actswm", "--data", "room.h5", "--out", "run", *settings)
    windows = ("--windows", "4", "--context", "4", "--horizon", "2", "--split", "all", "--json", "drift.json")
    assert "contrast" in run("drift", "run", "freedoom-room/contrast", "--data", "room.h5", *windows)
    run("report", "drift.json", "--out", "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_extras_are_named_by_what_they_give():
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    page = (ROOT / "docs" / "install.md").read_text()
    for extra in told:
        assert f"`{extra}`" in page, f"docs/install.md does not say what the extra {extra!r} gives"
