"""How processes end: Ctrl+C that waits, workers that die with their parent, and one run at a time."""

from __future__ import annotations

import _thread
import fcntl
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, TextIO

from .atomic import writing
from .errors import UserError

_SOON = 0.01
"""Seconds."""


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Ctrl+C waits until the block is left, and processes that are started inside never hear of it.

    The latter inherit a blocked signal, so that there is no moment of their life at which it could reach them.
    """
    in_main = threading.current_thread() is threading.main_thread()
    held: list[Any] = []
    previous = signal.signal(signal.SIGINT, lambda *caught: held.append(caught)) if in_main else None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if in_main:
            signal.signal(signal.SIGINT, previous)
            if held and callable(previous):
                previous(*held[0])


def interrupts_come_through() -> None:
    """Ctrl+C that falls into the clearing up of an object is raised where nobody can catch it: it comes again."""
    tell = sys.unraisablehook

    def heard(lost: sys.UnraisableHookArgs) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            tell(lost)
            return
        again = threading.Timer(_SOON, _thread.interrupt_main)
        again.daemon = True
        with suppress(RuntimeError):  # the interpreter is about to end anyway
            again.start()

    sys.unraisablehook = heard


@contextmanager
def starting_workers() -> Iterator[None]:
    """Processes that `multiprocessing` starts inside leave Ctrl+C to this one, and to it alone."""
    resource_tracker.ensure_running()  # it unblocks the signal when it starts
    with interrupts_held_back():
        yield


def settle_temporary_folder() -> None:
    """Choose it by its permissions. Python tries it out with a file, which stays where a kill comes in between."""
    named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    for folder in filter(None, (*named, "/tmp", "/var/tmp")):
        if tempfile.tempdir is None and os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
            tempfile.tempdir = os.path.abspath(folder)


def die_with_parent() -> None:
    """Call in a worker: it ends at once when its parent is gone, whatever it is doing or waiting for."""
    settle_temporary_folder()
    parent = multiprocessing.parent_process()
    assert parent is not None, "only a worker has a parent to die with"

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def only_run(folder: Path, name: str = "lock") -> Iterator[None]:
    """Refuse to work in `folder` while another run does. A folder with nothing but the lock in it goes at the end."""
    file = _locked(folder / name)
    with file:
        try:
            yield
        finally:
            if folder.exists() and [path.name for path in folder.iterdir()] == [name]:
                shutil.rmtree(folder)


def _locked(lock: Path) -> TextIO:
    """The lock file, locked; not one that the last run has removed in the meantime."""
    while True:
        with writing(lock):
            lock.parent.mkdir(parents=True, exist_ok=True)
            file = lock.open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise UserError(
                f"{lock.parent}: another run is at work on this output; wait for it to end"
            ) from None
        if lock.exists() and os.path.samestat(os.fstat(file.fileno()), lock.stat()):
            return file
        file.close()
