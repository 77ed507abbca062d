"""The small size of `make faults`: every command that writes, where it cannot."""

from __future__ import annotations

import pytest

from .commands import Command
from .outputs import COMMANDS, in_read_only_folder, on_full_disk

pytestmark = pytest.mark.timeout(900)  # a busy machine is slow, and the first test makes all inputs

NAMES = [command.name.replace(" ", "-").replace(",", "") for command in COMMANDS]


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_a_folder_that_cannot_be_written(command: Command, server, sound, tmp_path) -> None:
    case = in_read_only_folder(server, sound, tmp_path, command)
    assert case.fine, case


@pytest.mark.parametrize("command", COMMANDS[::3], ids=NAMES[::3])
def test_a_full_disk(command: Command, server, sound, tmp_path) -> None:
    case = on_full_disk(server, sound, tmp_path, command, 128 << 10)
    assert case.fine, case
