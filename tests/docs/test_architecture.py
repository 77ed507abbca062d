"""The architecture page and the map from the paper match the code."""

from __future__ import annotations

import re

from ..test_import_rules import ALLOWED, FREE, SOURCE
from .blocks import ROOT

PAGE = ROOT / "docs" / "architecture.md"
_ROW = re.compile(r"^\| `(?P<room>[\w.]+)/?` \|.*\| (?P<imports>[^|]+) \|$", re.M)


def rows() -> dict[str, str]:
    """Room -> its last column."""
    return {row["room"]: row["imports"] for row in _ROW.finditer(PAGE.read_text())}


def test_the_rooms_are_those_of_the_package():
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert {room for room in rows() if not room.endswith(".py")} == folders


def test_the_modules_are_those_of_the_package():
    modules = {path.name for path in SOURCE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert {room for room in rows() if room.endswith(".py")} == modules
    named = re.search(r"last column says; (.+?) are free for all", PAGE.read_text(), re.S)
    assert set(re.findall(r"`(\w+)(?:\.py|/)`", named[1])) == FREE


def test_the_import_rules_are_those_that_are_checked():
    for room, allowed in ALLOWED.items():
        named = set(re.findall(r"\b(\w+)\b", rows()[room].split("(")[0]))
        assert named == allowed, room


def test_the_files_that_the_map_from_the_paper_names_exist():
    named = re.findall(r"`([\w./-]+(?:\.py|\.yaml|/))`", (ROOT / "docs" / "paper-to-code.md").read_text())
    assert len(named) > 40
    for path in named:
        assert (SOURCE / path).exists() or (ROOT / path).exists(), path
