"""The small size of `make faults`: some damaged inputs of every kind, each before several commands."""

from __future__ import annotations

import pytest

from .fuzz import fuzz
from .kinds import KINDS, Kind
from .verdict import failures

pytestmark = pytest.mark.timeout(900)  # a busy machine is slow, and the first test makes all inputs

SEED = 15
MOST = 10_000


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name.replace(" ", "-"))
def test_damaged_inputs_are_refused_in_one_line(kind: Kind, server, sound, tmp_path) -> None:
    plan = [(kind, number) for number in range(int(kind.share))]
    cases = list(fuzz(server, sound, tmp_path, MOST, SEED, plan))
    assert len(cases) >= len(plan) and not failures(cases), "\n".join(failures(cases))
