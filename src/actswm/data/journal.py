"""A binary file whose changes become visible all at once, so that HDF5 survives `kill -9`.

HDF5 updates its metadata in place: a process killed in the middle leaves a broken file. Here bytes past the
last commit go straight to disk, where nobody looks yet, while overwrites of committed bytes stay in memory.
`commit` saves those overwrites as a journal (atomically), applies them and removes the journal. A journal
found on opening belongs to a commit that was cut short: applying it again completes the commit.

This protects against the death of the process, not against the loss of power.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import struct
import time
from contextlib import suppress
from pathlib import Path

from ..atomic import cannot_write, writing
from ..errors import UserError

PAGE = 4096
_SUPERBLOCK_EOF = {0: 40, 1: 44, 2: 28, 3: 28}
"""Where each superblock version keeps the end-of-file address."""


def journal_path(path: Path) -> Path:
    return path.with_name(path.name + ".journal")


def _unfinished(journal: Path) -> Path:
    """A journal that is being written. One name is enough: only the holder of the lock writes one."""
    return journal.with_name(f"{journal.name}.tmp")


def recover(path: Path) -> None:
    """Complete a commit that was interrupted after its journal was written.

    A journal whose file is locked belongs to a living writer, which completes it within moments.
    """
    try:
        while journal_path(path).exists():
            with open(path, "r+b") as file:
                if _locked(file.fileno()):
                    _apply_journal(path, file.fileno())
                else:
                    time.sleep(0.01)
    except (OSError, OverflowError) as error:
        raise UserError(
            f"{path}: its last episode waits in {journal_path(path).name}, which cannot be put in ({error}); "
            "make the file writable and run again"
        ) from None


def _locked(fd: int) -> bool:
    """Take the writer's lock, unless somebody has it.

    An open-file-description lock: HDF5's own readers use flock, which this neither blocks nor breaks.
    """
    whole_file = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    try:
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, whole_file)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return False
    return True


def _apply_journal(path: Path, fd: int) -> None:
    """Call with the lock on `fd` held."""
    journal = journal_path(path)
    if journal.exists():
        with open(journal, "rb") as saved:
            while header := saved.read(8):
                os.pwrite(fd, saved.read(PAGE), int.from_bytes(header, "little"))
        journal.unlink()


def stored_end(path: Path) -> int:
    """The file size that HDF5 itself believes in; bytes behind it were never committed."""
    with open(path, "rb") as file:
        head = file.read(64)
    at = _SUPERBLOCK_EOF.get(head[8]) if head[:8] == b"\x89HDF\r\n\x1a\n" else None
    if at is None:
        raise UserError(f"{path}: not an HDF5 file")
    return int.from_bytes(head[at : at + 8], "little")


class JournaledFile(io.RawIOBase):
    """File object for h5py's `fileobj` driver. Holds an exclusive lock while open.

    HDF5 calls it from C, where an exception would crash the process. So a disk that is full shows only at the next
    `check` or `commit`: the error is kept, and until then HDF5 sees in memory what could not be written.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.failure: OSError | None = None
        with writing(path):
            self._fd = os.open(path, os.O_RDWR)
        if not _locked(self._fd):
            os.close(self._fd)
            raise UserError(f"{path}: another process is writing to this file; wait for it to end")
        with writing(path):
            _apply_journal(path, self._fd)
            _unfinished(journal_path(path)).unlink(missing_ok=True)
        self._committed = stored_end(path)
        os.ftruncate(self._fd, self._committed)
        self._size = self._committed
        self._position = 0
        self._pages: dict[int, bytearray] = {}
        self._discarding = False

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def, override]
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self._size - self._position))
        done = 0
        while done < count:  # a short read is legal for preadv
            try:
                got = os.preadv(self._fd, [view[done:count]], self._position + done)
            except OSError as error:
                self.failure, got = error, 0
            if got == 0:
                view[done:count] = bytes(count - done)
                break
            done += got
        self._overlay(view[:count])
        self._position += count
        return count

    def _overlay(self, view: memoryview) -> None:
        start, end = self._position, self._position + len(view)
        for number in range(start // PAGE, -(-end // PAGE)):
            page = self._pages.get(number)
            if page is not None:
                low, high = max(start, number * PAGE), min(end, (number + 1) * PAGE)
                view[low - start : high - start] = page[low - number * PAGE : high - number * PAGE]

    def write(self, data) -> int:  # type: ignore[no-untyped-def, override]
        view = memoryview(data).cast("B")
        if self._discarding:
            self._position += len(view)
            return len(view)
        # whole pages that touch committed bytes are journaled; what lies behind goes to disk at once
        boundary = -(-self._committed // PAGE) * PAGE
        inside = max(0, min(len(view), boundary - self._position))
        try:
            done = len(view) if self.failure else inside
            if done:
                self._write_pages(view[:done])
            while done < len(view):
                done += os.pwrite(self._fd, view[done:], self._position + done)
        except OSError as error:
            self.failure = error
            self._write_pages(view)
        self._position += len(view)
        self._size = max(self._size, self._position)
        return len(view)

    def _write_pages(self, view: memoryview) -> None:
        start, end = self._position, self._position + len(view)
        for number in range(start // PAGE, -(-end // PAGE)):
            if number not in self._pages:
                try:
                    there = os.pread(self._fd, PAGE, number * PAGE)
                except OSError as error:
                    self.failure, there = error, b""
                self._pages[number] = bytearray(there.ljust(PAGE, b"\0"))
            low, high = max(start, number * PAGE), min(end, (number + 1) * PAGE)
            self._pages[number][low - number * PAGE : high - number * PAGE] = view[low - start : high - start]

    def truncate(self, size: int | None = None) -> int:
        self._size = self._position if size is None else size
        if not self._discarding and not self.failure and self._size > self._committed:
            try:
                os.ftruncate(self._fd, self._size)
            except OSError as error:
                self.failure = error
        return self._size

    def flush(self) -> None:
        """HDF5's flush orders nothing here: only `commit` makes bytes count."""

    def check(self) -> None:
        """Raise what went wrong since the last commit."""
        if self.failure:
            raise cannot_write(self.path, self.failure)

    def commit(self) -> None:
        """Make everything written so far visible, or (if killed on the way, or out of room) nothing of it."""
        self.check()
        if self._pages:
            with writing(self.path):
                for number in self._pages:  # so that nothing can fail once there is a journal
                    os.posix_fallocate(self._fd, number * PAGE, PAGE)
                self._save_journal()
                _apply_journal(self.path, self._fd)
            self._pages.clear()
        self._committed = self._size

    def _save_journal(self) -> None:
        journal = journal_path(self.path)
        unfinished = _unfinished(journal)
        try:
            with open(unfinished, "wb") as file:
                for number, page in sorted(self._pages.items()):
                    file.write((number * PAGE).to_bytes(8, "little"))
                    file.write(page)
            os.replace(unfinished, journal)
        finally:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)

    def discard(self) -> None:
        """Forget everything since the last commit; later writes go nowhere."""
        self._pages.clear()
        self.failure = None
        self._discarding = True

    def close(self) -> None:
        if not self.closed:
            os.ftruncate(self._fd, max(self._committed, stored_end(self.path)))
            os.close(self._fd)
        super().close()
