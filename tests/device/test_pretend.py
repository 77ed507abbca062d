"""All that runs a model runs on an accelerator: `paths.py`, in a process that has a pretended one from the start."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_path_gives_the_cpus_result():
    command = [sys.executable, "-m", "pytest", "tests/device/paths.py", "-q", "-p", "no:cacheprovider", "--tb=short"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
