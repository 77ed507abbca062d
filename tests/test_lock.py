"""The lock file is the whole tested environment, and agrees with what the project asks for."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LINE = re.compile(r"([\w.-]+)==([\w.]+) --hash=sha256:[0-9a-f]{64}")


def lines(name):
    return [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith("#")]


def locked():
    matches = [LINE.fullmatch(line) for line in lines("requirements.lock")]
    assert all(matches), "every line is a version and a hash, and names no place"
    return {canonicalize_name(match[1]): match[2] for match in matches}


def test_everything_that_the_project_asks_for_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    used = ("dev", "bench", "docs", "judge", "minestudio", "remote")
    asked = [*project["dependencies"], *(each for name in used for each in extras[name])]
    versions = locked()
    for requirement in map(Requirement, asked):
        if requirement.name != "actswm":
            version = versions[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version), requirement


def test_pins_agree():
    versions = locked()
    benched = re.findall(r"stable-worldmodel==\S+", (ROOT / "Makefile").read_text())
    assert len(benched) == 1
    for pin in [*lines("constraints.txt"), *lines("tests/peers.txt"), *benched]:
        name, _, version = pin.partition("==")
        assert versions[canonicalize_name(name)] == version, pin


def test_the_ci_installs_from_the_lock():
    assert "make locked" in (ROOT / ".ci" / "run").read_text()
    assert "--require-hashes --no-deps -r requirements.lock" in (ROOT / "Makefile").read_text()


def test_every_game_whose_weights_ship_has_its_notice():
    notice = (ROOT / "NOTICE").read_text()
    weights = ROOT / "src" / "actswm" / "weights"
    shipped = {path.parent.parent.name for path in weights.glob("*/*/config.json")}
    assert shipped and all(name in notice for name in shipped)
    assert (ROOT / "LICENSE").read_text() in (weights / "LICENSE").read_text()
