"""The shim is compiled once per source, also when several processes need it for the first time."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from actswm.errors import UserError
from actswm.games.lockstep import gate
from actswm.games.lockstep.build import shim_library

FIRST_USE = "from actswm.games.lockstep.build import shim_library; print(shim_library())"


def test_concurrent_first_uses_share_one_library(
    tmp_path: Path, require_programs: Callable[..., None]
) -> None:
    require_programs("cc")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", FIRST_USE], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    paths = {run.communicate()[0].strip() for run in runs}
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert [str(path) for path in (tmp_path / "actswm").iterdir()] == list(paths)


def test_layout_is_the_same_on_both_sides(tmp_path: Path, require_programs: Callable[..., None]) -> None:
    require_programs("cc")
    source = tmp_path / "size.c"
    shim = Path(gate.__file__).with_name("shim.c")
    offsets = {name: getattr(gate._Layout, name).offset for name, _ in gate._Layout._fields_}
    checks = "".join(
        f'_Static_assert(offsetof(struct gate, {name}) == {offset}, "{name}");\n'
        for name, offset in offsets.items()
    )
    source.write_text(
        f'#include "{shim}"\n#include <stddef.h>\n{checks}'
        f'_Static_assert(offsetof(struct gate, pixels) == {ctypes.sizeof(gate._Layout)}, "pixels");\n'
    )
    subprocess.run(["cc", "-c", "-Wall", "-Werror", "-o", str(tmp_path / "size.o"), str(source)], check=True)


def test_a_failing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CC", "false")
    with pytest.raises(UserError, match="'false'"):
        shim_library()
    assert list((tmp_path / "actswm").iterdir()) == []
