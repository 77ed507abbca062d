"""The startup benchmark measures real processes."""

import json
import sys

import pytest
from typer.testing import CliRunner

from actswm.bench import startup
from actswm.cli.main import app


def test_ratios_are_written(tmp_path):
    out = tmp_path / "startup.json"
    shown = CliRunner().invoke(app, ["bench", "startup", "--runs", "1", "--json", str(out)])
    assert shown.exit_code == 0 and "startup_over_torch" in shown.output
    figures = json.loads(out.read_text())
    assert figures["runs"] == 1
    assert figures["startup_over_torch_cpu"] > 0 and figures["startup_over_torch"] > 0


def test_a_command_that_fails_is_no_measurement(monkeypatch):
    monkeypatch.setattr(startup, "HELP", (sys.executable, "-c", "raise SystemExit(3)"))
    with pytest.raises(RuntimeError, match="failed with exit code 3"):
        startup.bench_startup(1)
