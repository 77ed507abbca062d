"""Traces of an engine in the system: its processes, X lock files and sockets."""

from __future__ import annotations

import os
from pathlib import Path


def processes_in(folder: Path) -> set[int]:
    """Processes that run in a folder below `folder`, zombies left out."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                where = os.readlink(entry / "cwd").removesuffix(" (deleted)")
            except OSError:
                continue
            if Path(where).is_relative_to(folder):
                found.add(int(entry.name))
    return found


def x_locks_of(pids: set[int]) -> list[Path]:
    """Lock files of X servers that were these processes."""
    locks = []
    for lock in Path("/tmp").glob(".X*-lock"):
        try:
            if int(lock.read_text()) in pids:
                locks.append(lock)
        except (OSError, ValueError):
            continue
    return locks


def local_addresses(pid: int) -> set[str]:
    """Addresses (as in /proc/net, without the port) that the process's network sockets are bound to."""
    inodes = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(descriptor)
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = set()
    for table in ("udp", "udp6", "tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes:
                found.add(fields[1].split(":")[0])
    return found
