"""One warm server and one set of sound inputs for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .kills import make_long_inputs
from .running import WarmServer
from .sound import make_sound


@pytest.fixture(scope="session")
def server() -> Iterator[WarmServer]:
    with WarmServer() as running:
        yield running


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory, server: WarmServer) -> Path:
    folder = make_sound(tmp_path_factory.mktemp("faults") / "sound", server)
    make_long_inputs(folder)
    return folder
