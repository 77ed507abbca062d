"""Imports go only where the architecture says, and torch stays out of the rooms that must start fast."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "actswm"
FREE = {
    *("errors", "atomic", "json_files", "processes", "controls", "game", "task", "branches", "tape", "executor"),
    *("intervals", "masks", "origin", "presets", "chunks", "results", "saved_models", "hub", "remote"),
    "dataset_paths",
}
"""Modules that everybody may use."""
ALLOWED = {
    "formats": set(),
    "data": set(),
    "games": {"formats", "data"},
    "curation": {"formats", "data"},
    "exchange": {"formats", "data"},
    "model": set(),
    "objective": {"model"},
    "training": {"data", "model", "objective"},
    "diagnosis": {"model", "data"},
    "planning": {"model"},
    "recovery": {"model", "data", "formats", "planning"},
    "integrations": {"model", "planning"},
    "report": set(),
    "play": {"formats", "model"},
}
WITHOUT_TORCH = (
    "controls",
    "game",
    "task",
    "branches",
    "tape",
    "atomic",
    "json_files",
    "processes",
    "executor",
    "presets",
    "chunks",
    "results",
    "saved_models",
    "hub",
    "remote",
    "dataset_paths",
    "formats",
    "data",
    "games",
    "curation",
    "exchange",
    "report.page",
    "cli.main",
)


def imported_rooms(path: Path) -> set[str]:
    """First components, below `actswm`, of everything a file imports from the package."""
    parts = ("actswm", *path.relative_to(SOURCE).with_suffix("").parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = list(parts[: len(parts) - node.level]) if node.level else []
            module = base + (node.module.split(".") if node.module else [])
            names = [module] if len(module) > 1 else [[*module, alias.name] for alias in node.names]
            found |= {name[1] for name in names if name[0] == "actswm" and len(name) > 1}
        elif isinstance(node, ast.Import):
            split = [alias.name.split(".") for alias in node.names]
            found |= {name[1] for name in split if name[0] == "actswm" and len(name) > 1}
    return found


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_imports_follow_the_architecture(room):
    for path in sorted((SOURCE / room).rglob("*.py")):
        foreign = imported_rooms(path) - ALLOWED[room] - FREE - {room, "__version__"}
        assert not foreign, f"{path.relative_to(SOURCE)} imports {', '.join(sorted(foreign))}"


@pytest.mark.parametrize("module", WITHOUT_TORCH)
def test_these_start_without_torch(module):
    program = f"import sys, actswm.{module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_only_the_command_line_prints():
    for path in SOURCE.rglob("*.py"):
        if "cli" not in path.parts:
            calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
            assert not [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"], path
