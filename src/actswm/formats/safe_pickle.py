"""Unpickles plain containers and arrays of plain numbers, and nothing that could run code or reach into memory.

The names that NumPy's pickles ask for are answered by stand-ins: a real `numpy.dtype` takes a state that can turn
bytes into object pointers, and a real function takes new attributes.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
from typing import Any

import numpy as np

from ..errors import UserError

_NUMBERS = {"b1", "?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}
_STATE_AFTER_ORDER = (None, None, None, -1, -1, 0)
"""What follows the byte order in the state of a dtype that is no structure and holds no objects."""
_REFUSED = {"PERSID", "BINPERSID", "EXT1", "EXT2", "EXT4", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX"} | {
    "NEXT_BUFFER",
    "READONLY_BUFFER",
}
_REPEATED = 4
"""Arrays may hold so many times the pickle's bytes: one buffer can serve several arrays, but not thousands."""


class _Dtype:
    """A dtype under construction: a plain number, and then its byte order."""

    def __init__(self, name: str) -> None:
        if name not in _NUMBERS:
            raise pickle.UnpicklingError(f"it holds an array of {str(name)[:20]!r}, not of numbers")
        self.real = np.dtype(name)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, order, *rest = state
        if tuple(rest) != _STATE_AFTER_ORDER or order not in ("<", ">", "|", "="):
            raise pickle.UnpicklingError("it holds an array that is not of plain numbers")
        self.real = self.real.newbyteorder(order)


class _Array(np.ndarray):
    """An empty array that takes its content from a pickle's state."""

    unpickler: _PlainUnpickler

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, fortran, raw = state
        self.unpickler.require_size(shape, dtype.real, raw)
        super().__setstate__((1, shape, dtype.real, bool(fortran), raw))  # type: ignore[arg-type]  # a plain bool


class _StandIn:
    """What a pickle gets for a name that it asks for: it can be called, and not changed."""

    __slots__ = ("_answer",)

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def __call__(self, *arguments: Any) -> Any:
        return self._answer(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("it changes a function")


class _PlainUnpickler(pickle.Unpickler):
    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self._room = _REPEATED * len(data)
        self._names = {
            ("collections", "OrderedDict"): _StandIn(lambda: {}),
            ("_codecs", "encode"): _StandIn(_latin1),
            ("__builtin__", "bytes"): _StandIn(lambda: b""),  # how protocol 2 spells no bytes
            ("numpy", "ndarray"): _StandIn(None),
            ("numpy", "dtype"): _StandIn(lambda name, *_: _Dtype(name)),
        }
        for core in ("numpy.core", "numpy._core"):
            self._names |= {
                (f"{core}.multiarray", "_reconstruct"): _StandIn(self._empty),
                (f"{core}.multiarray", "scalar"): _StandIn(self._scalar),
                (f"{core}.numeric", "_frombuffer"): _StandIn(self._filled),
            }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._names:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return self._names[module, name]

    def require_size(self, shape: Any, dtype: np.dtype[Any], raw: Any) -> None:
        """The bytes must be the array's, and all arrays together not many times the pickle."""
        size = math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or not isinstance(raw, (bytes, bytearray)) or len(raw) != size:
            raise pickle.UnpicklingError("an array's bytes do not fit its shape")
        self._room -= size
        if self._room < 0:
            raise pickle.UnpicklingError("its arrays are far larger than itself")

    def _empty(self, *_: Any) -> _Array:
        array = np.ndarray.__new__(_Array, (0,), "i1")
        array.unpickler = self
        return array

    def _filled(self, raw: Any, dtype: _Dtype, shape: Any, order: str) -> np.ndarray:
        self.require_size(shape, dtype.real, raw)
        return np.frombuffer(raw, dtype.real).reshape(shape, order="F" if order == "F" else "C")

    def _scalar(self, dtype: _Dtype, raw: bytes) -> Any:
        self.require_size((1,), dtype.real, raw)
        return np.frombuffer(raw, dtype.real)[0]


def load_plain(data: bytes, source: str) -> Any:
    """The object in `data`; `source` is named if it is refused or damaged."""
    try:
        _require_plain_steps(data)
        return _PlainUnpickler(data).load()
    except Exception as error:  # a damaged pickle raises anything at all
        raise UserError(
            f"{source}: refused a pickle that is not plain data ({str(error)[:80]}); do not trust this file"
        ) from None


def _require_plain_steps(data: bytes) -> None:
    """No step that makes objects of classes, and no memo place so far out that the memo alone fills memory."""
    for count, (step, argument, _) in enumerate(pickletools.genops(data), 1):
        if step.name in _REFUSED:
            raise pickle.UnpicklingError(f"it uses {step.name}")
        if step.name in ("PUT", "BINPUT", "LONG_BINPUT") and isinstance(argument, int) and argument > count:
            raise pickle.UnpicklingError(f"it uses the memo place {argument}")


def _latin1(text: str, encoding: str) -> bytes:
    """How older protocols spell bytes."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it encodes as {str(encoding)[:20]}")
    return text.encode("latin1")
