"""Mutations that know nothing of a file's format: what a bad disk, a cut download or an editor does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

Rng = np.random.Generator


def flip(data: bytes, rng: Rng) -> bytes:
    """A few bits, anywhere."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def flip_head(data: bytes, rng: Rng) -> bytes:
    """Formats keep what matters most at the start."""
    size = min(len(data), 2048)
    return flip(data[:size], rng) + data[size:]


def overwrite(data: bytes, rng: Rng) -> bytes:
    """A stretch becomes zeros, ones or noise."""
    start, length = int(rng.integers(len(data))), int(rng.integers(1, 400))
    length = min(length, len(data) - start)
    fill = [bytes(length), b"\xff" * length, rng.bytes(length)][int(rng.integers(3))]
    return data[:start] + fill + data[start + length :]


def cut(data: bytes, rng: Rng) -> bytes:
    return data[: int(rng.integers(len(data)))]


def cut_tail(data: bytes, rng: Rng) -> bytes:
    return data[: -int(rng.integers(1, min(64, len(data)) + 1))]


def drop(data: bytes, rng: Rng) -> bytes:
    """A stretch is missing, and all behind it has moved."""
    start = int(rng.integers(len(data)))
    return data[:start] + data[start + int(rng.integers(1, 200)) :]


def repeat(data: bytes, rng: Rng) -> bytes:
    start = int(rng.integers(len(data)))
    stretch = data[start : start + int(rng.integers(1, 200))]
    return data[:start] + stretch + data[start:]


def append(data: bytes, rng: Rng) -> bytes:
    return data + rng.bytes(int(rng.integers(1, 300)))


def empty(data: bytes, rng: Rng) -> bytes:
    return b""


def foreign(data: bytes, rng: Rng) -> bytes:
    """Another kind of file under this name."""
    heads = (
        b"\x89PNG\r\n\x1a\n",
        b"PK\x03\x04",
        b"\x89HDF\r\n\x1a\n",
        b"\x80\x04\x95",
        b"{}",
        b"null",
        b"\n",
    )
    return heads[int(rng.integers(len(heads)))] + rng.bytes(int(rng.integers(200)))


RAW: tuple[Callable[[bytes, Rng], bytes], ...] = (
    flip, flip, flip_head, flip_head, overwrite, cut, cut_tail, drop, repeat, append, empty, foreign,
)  # fmt: skip


def mutate_bytes(path: Path, rng: Rng) -> str:
    """Change a file in place; returns what was done to it."""
    change = RAW[int(rng.integers(len(RAW)))]
    path.write_bytes(change(path.read_bytes(), rng))
    return f"{change.__name__} {path.name}"


def not_a_file(path: Path, rng: Rng) -> str:
    """Gone, or something else in its place."""
    path.unlink()
    way = int(rng.integers(3))
    if way == 0:
        path.mkdir()
    elif way == 1:
        path.symlink_to(path)
    return f"{('folder for', 'loop for', 'no')[way]} {path.name}"
