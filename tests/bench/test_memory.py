from __future__ import annotations

import os

import pytest

from actswm.bench.memory import peak_mib


def test_what_work_holds_is_seen() -> None:
    assert peak_mib(bytearray, 120 * 2**20) > 100 + peak_mib(bytearray, 1)


def test_a_process_that_dies_is_told_and_not_waited_for() -> None:
    with pytest.raises(RuntimeError, match="exit code 3"):
        peak_mib(os._exit, 3)
