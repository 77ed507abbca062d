"""The documentation builds without a warning."""

from __future__ import annotations

import os
import subprocess
import sys

from .blocks import ROOT


def test_the_site_builds_strictly(tmp_path):
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # an advertisement, not about this site
    done = subprocess.run(build, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    reference = (tmp_path / "site" / "api" / "index.html").read_text()
    for name in ("WorldModel", "step_drift", "counterfactual_fidelity", "Planner", "DatasetWriter"):
        assert f"{name}</span>" in reference, f"the API reference does not show {name}"
