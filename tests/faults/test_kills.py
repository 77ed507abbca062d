"""The small size of `make faults`: every command that can go on, killed once and run again."""

from __future__ import annotations

import numpy as np
import pytest

from .kills import SIGNALS, TARGETS, Target, kill, undisturbed

pytestmark = pytest.mark.timeout(900)  # a busy machine is slow, and the first test makes all inputs


@pytest.mark.parametrize(
    ("number", "target"), list(enumerate(TARGETS)), ids=[target.name.replace(" ", "") for target in TARGETS]
)
def test_a_killed_command_goes_on(number: int, target: Target, server, sound, tmp_path) -> None:
    expected = undisturbed(target, server, tmp_path / "undisturbed", sound)
    sent = SIGNALS[number % len(SIGNALS)]
    done = kill(target, sent, expected, np.random.default_rng(number), server, tmp_path / "killed", sound)
    assert done.fine, done
