"""Engines that a machine may lack: their tests are skipped there, unless ACTSWM_REQUIRE_GAMES=1."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

GAMES_PATH = f"{os.environ.get('PATH', '')}:/usr/games"


@pytest.fixture(scope="session")
def require_programs() -> Callable[..., None]:
    """Skip, or fail where games are required, unless all programs are installed."""

    def require(*programs: str) -> None:
        missing = [program for program in programs if shutil.which(program, path=GAMES_PATH) is None]
        if missing:
            reason = f"not installed: {', '.join(missing)} (make games installs them)"
            if os.environ.get("ACTSWM_REQUIRE_GAMES") == "1":
                pytest.fail(reason)
            pytest.skip(reason)

    return require


@pytest.fixture(scope="session")
def minetest_installed(require_programs: Callable[..., None]) -> None:
    require_programs("minetest", "Xvfb", "cc")


@pytest.fixture(scope="session")
def openarena_installed(require_programs: Callable[..., None]) -> None:
    require_programs("openarena", "Xvfb", "cc")


@pytest.fixture
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Temporary folders of this test, and of its subprocesses, are made here."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield folder
