"""The LMDB reader: the same values as the C library, and one line for every kind of damage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from actswm.errors import UserError
from actswm.formats.lmdb_file import LmdbFile

lmdb = pytest.importorskip("lmdb", reason="the minestudio extra, which writes the files, is not installed")


def made(folder: Path, entries: int = 3000) -> dict[bytes, bytes]:
    """Short and long values, enough for branch pages, written in several transactions with some removed."""
    rng = np.random.default_rng(0)
    rows = {
        str((int(number), 32)).encode(): rng.bytes(int(size))
        for number, size in zip(rng.permutation(entries), rng.choice([0, 7, 300, 2100, 20000], entries))
    }
    with lmdb.open(str(folder), map_size=2**28) as database:
        for part in np.array_split(np.array(list(rows), object), 5):
            with database.begin(write=True) as transaction:
                for key in part:
                    transaction.put(key, rows[key])
                transaction.delete(part[0])
                del rows[part[0]]
    return rows


def test_every_value_is_found_and_nothing_else(tmp_path) -> None:
    rows = made(tmp_path)
    file = LmdbFile(tmp_path)
    assert all(file.get(key) == value for key, value in rows.items())
    assert file.get(b"(1, 33)") is None and file.get(b"") is None and file.get(b"\xff" * 20) is None


def test_an_empty_database(tmp_path) -> None:
    lmdb.open(str(tmp_path), map_size=2**20).close()
    assert LmdbFile(tmp_path).get(b"x") is None


@pytest.mark.parametrize("length", [0, 100, 4096, 5000, 8192, 100_000, -4096, -1])
def test_a_file_cut_short(tmp_path, length) -> None:
    """The C library maps what its header promises, and dies of SIGBUS behind the end."""
    made(tmp_path, 300)
    path = tmp_path / "data.mdb"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(UserError, match=r"data.mdb: truncated or damaged LMDB .*download it again"):
        LmdbFile(tmp_path)


def test_damage_never_ends_in_anything_but_a_message(tmp_path) -> None:
    rows = made(tmp_path, 200)
    path = tmp_path / "data.mdb"
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(150):
        damaged = np.frombuffer(whole, np.uint8).copy()
        pages = rng.integers(0, len(whole) // 4096, 12) * 4096
        # The first bytes of a page say what it is and where its nodes lie.
        damaged[pages + rng.integers(0, 60, 12)] = rng.integers(0, 256, 12)
        path.write_bytes(damaged)
        try:
            file = LmdbFile(tmp_path)
            for key in rows:
                file.get(key)
        except UserError as error:
            assert "data.mdb" in str(error)
            refused += 1
    assert refused > 20
