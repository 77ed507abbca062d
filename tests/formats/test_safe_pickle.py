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


def test_small_pickles_do_not_fill_memory() -> None:
    with pytest.raises(UserError, match="memo place"):
        load_plain(b"\x80\x02Nr\xff\xff\xff\x7f.", "it")
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
