"""Pickles that would run code, reach into memory or fill it are refused; plain data comes through as it was."""

from __future__ import annotations

import os
import pickle
import struct
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from actswm.errors import UserError
from actswm.formats.safe_pickle import load_plain


class Pickled:
    """An object that pickles as a call, and then takes a state."""

    def __init__(self, function: Any, arguments: tuple[Any, ...], state: Any = None) -> None:
        self.steps = (function, arguments, state)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.steps


class StructuredPointer:
    """An array of raw bytes whose structured dtype says that they are an object's address."""

    def __reduce__(self) -> tuple[Any, ...]:
        raw = struct.pack("<Q", id(os.system))
        structured = np.dtype([("f", "O")])
        return np._core.multiarray._reconstruct, (np.ndarray, (0,), b"b"), (1, (1,), structured, False, raw)


def dtype_with_state(state: tuple[Any, ...]) -> Pickled:
    return Pickled(np.dtype, ("V8", False, True), state)


RECONSTRUCT = np._core.multiarray._reconstruct
WRONG_SHAPE = Pickled(
    RECONSTRUCT, (np.ndarray, (0,), b"b"), (1, (10**6,), np.dtype("u1"), False, b"12345678")
)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (StructuredPointer(), "not of numbers"),
        (np.zeros(2, [("x", "i4"), ("y", "f8")]), "not of numbers"),
        (np.array(["u"], object), "not of numbers"),
        (np.array(["text"]), "not of numbers"),
        (
            dtype_with_state((3, "|", None, ("f",), {"f": (np.dtype("O"), 0)}, 8, 1, 27)),
            "not of numbers",
        ),
        (
            Pickled(np.dtype, ("u8", False, True), (3, "|", None, ("f",), {"f": (1, 0)}, 8, 1, 27)),
            "plain numbers",
        ),
        (WRONG_SHAPE, "do not fit its shape"),
        (
            Pickled(RECONSTRUCT, (np.ndarray, (0,), b"b"), (1, (-1,), np.dtype("u1"), False, b"")),
            "do not fit",
        ),
    ],
)
def test_arrays_of_anything_but_numbers_are_refused(what, message) -> None:
    for protocol in (2, 4):
        with pytest.raises(UserError, match=message):
            load_plain(pickle.dumps(what, protocol), "it")


def test_a_function_cannot_be_changed() -> None:
    """BUILD on a global sets its attributes: the next pickle would meet another function."""
    with pytest.raises(UserError, match="changes a function"):
        load_plain(b"cnumpy\ndtype\n}(X\x01\x00\x00\x00aK\x01ub.", "it")


DTYPE, FROM_BUFFER = b"cnumpy\ndtype\n", b"cnumpy._core.numeric\n_frombuffer\n"
NESTED = b")" + b"\x85" * 300_000  # tuples in tuples: their hash overflows the stack of the process
BOMBS = {
    "a nested key": (b"}" + NESTED + b"Ns.", "key"),
    "a nested type": (DTYPE + NESTED + b"\x85R.", "not of numbers"),
    "nested for ever": (NESTED + b".", "deep"),
    "lists of lists": (
        b"]" + b"".join(b"\x94](h%ch%ce" % (place, place) for place in range(40)) + b".",
        "far larger than itself",
    ),
    "a list in itself": (b"]\x94h\x00a.", "far larger than itself|deep"),
    "huge sides": (
        FROM_BUFFER + b"(C\x01x" + DTYPE + b"\x8c\x02u1\x85R(\x8b" + (10**5).to_bytes(4, "little")
        + b"\x7f" * 10**5 + b"\x94" + b"h\x00" * 3000 + b"t\x8c\x01CtR.",
        "64 bits",
    ),
    "many sides": (
        FROM_BUFFER + b"(C\x01x" + DTYPE + b"\x8c\x02u1\x85R(" + b"K\x01" * 70 + b"t\x8c\x01CtR.",
        "do not fit",
    ),
    "an array built twice": (pickle.dumps(np.zeros(2), 2)[2:-1] + b"Nb.", "finished"),
    "a function in the result": (b"(" + DTYPE + b"l.", "function"),
    "a class": (b"cos\nsystem\n(X\x02\x00\x00\x00lstR.", "os.system"),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_pickles_that_would_crash_hang_or_fill_the_reader_are_refused(name) -> None:
    data, message = BOMBS[name]
    with pytest.raises(UserError, match=message):
        load_plain(b"\x80\x04" + data, "it")


def test_damaged_pickles_end_in_a_message_or_in_plain_data() -> None:
    sound = pickle.dumps({"camera": np.zeros((4, 2), np.float32), "info": [{"episode": "a", "frames": 3}] * 3}, 4)
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(2000):
        data = bytearray(sound)
        for place in rng.integers(0, len(data), 2):
            data[place] = rng.integers(256)
        try:
            assert _plain(load_plain(bytes(data), "it"))
        except UserError:
            refused += 1
    assert refused > 500


def _plain(value: Any) -> bool:
    if isinstance(value, (list, tuple, dict)):
        return all(map(_plain, value.values() if isinstance(value, dict) else value))
    numbers = value.dtype.kind in "biuf" if isinstance(value, (np.ndarray, np.generic)) else False
    return numbers or isinstance(value, (str, bytes, bytearray, int, float, type(None)))


def test_small_pickles_do_not_fill_memory() -> None:
    assert load_plain(b"\x80\x02Nr\xff\xff\xff\x7f.", "it") is None, "a far place of the memo costs nothing"
    shared = b"x" * 4096
    many = [Pickled(RECONSTRUCT, (np.ndarray, (0,), b"b"), (1, (4096,), np.dtype("u1"), False, shared))] * 1
    many += [
        Pickled(RECONSTRUCT, (np.ndarray, (0,), b"b"), (1, (4096,), np.dtype("u1"), False, shared))
        for _ in range(500)
    ]
    with pytest.raises(UserError, match="far larger than itself"):
        load_plain(pickle.dumps(many, 4), "it")


def test_plain_data_comes_through_as_it_was() -> None:
    data = {
        "big": np.arange(6, dtype=">i4").reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "flags": np.array([True, False]),
        "none": np.zeros((0, 4), np.float32),
        "one": [np.float32(2.5), np.int64(-3), np.bool_(True)],
        "rest": OrderedDict(a=(None, "x", b"y\xff"), b=[1, 2]),
    }
    for protocol in range(2, 6):
        loaded = load_plain(pickle.dumps(data, protocol), "it")
        for name in ("big", "fortran", "flags", "none"):
            np.testing.assert_array_equal(loaded[name], data[name])
            assert loaded[name].dtype.kind == data[name].dtype.kind and loaded[name].shape == data[name].shape
        assert loaded["one"] == data["one"] and loaded["rest"]["a"] == (None, "x", b"y\xff")
