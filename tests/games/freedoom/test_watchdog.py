"""An engine that dies with a queue's lock in hand does not hang its owner."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
from pathlib import Path

from actswm.games.freedoom.watchdog import unlock_for_dead

libc = ctypes.CDLL(None)
LOCK, OWNER = 12, 14
"""Words of a queue's memory: where boost puts its mutex."""

DIES_WITH_THE_LOCK = f"""
import os, signal, sys
import numpy as np
from actswm.games import make_game
from actswm.games.guard import EngineDied
game = make_game("freedoom/room", size=16)
game.reset(seed=1)
folder = game._engine.folder
pid = int((folder / "engine.pid").read_text())
os.kill(pid, signal.SIGSTOP)  # it waits for us, and holds nothing
[queue] = [path for path in (folder / "leftovers").read_text().split() if "MQCtr" in path]
words = np.memmap(queue, np.int32, "r+", shape=(64,))
assert words[{LOCK}] == words[{OWNER}] == 0
words[[{LOCK}, {OWNER}]] = 2, pid
os.kill(pid, signal.SIGKILL)
try:
    while True:
        game.step(np.zeros(14))
except EngineDied:
    game.reset(seed=1)
    game.close()
"""


def test_the_owner_of_an_engine_that_died_with_a_lock_goes_on():
    subprocess.run([sys.executable, "-c", DIES_WITH_THE_LOCK], check=True, timeout=90)


def test_only_the_locks_of_the_dead_are_opened(tmp_path: Path):
    queue = tmp_path / "queue"
    queue.write_bytes(bytes(4096))
    with queue.open("r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
    mutex = ctypes.c_char.from_buffer(memory, 4 * LOCK)
    attributes = ctypes.create_string_buffer(64)
    libc.pthread_mutexattr_init(attributes)
    libc.pthread_mutexattr_setpshared(attributes, 1)
    libc.pthread_mutex_init(ctypes.byref(mutex), attributes)

    def free() -> bool:
        return libc.pthread_mutex_trylock(ctypes.byref(mutex)) == 0

    child = os.fork()
    if child == 0:
        os._exit(0 if free() else 1)  # dies with it
    assert os.waitpid(child, 0)[1] == 0
    unlock_for_dead(child + 1, [queue, tmp_path / "missing"])
    assert not free()
    unlock_for_dead(child, [queue])
    assert free()
