"""Reads pickles of plain containers and arrays of plain numbers: none can run code, reach into memory or fill it.

An interpreter of our own, since Python's trusts what it reads: it hashes whatever is to be a key (tuples in tuples
overflow the stack), and hands out functions and dtypes that a pickle can change. Here the names that NumPy's pickles
ask for are words, and the few things that they do are done below.
"""

from __future__ import annotations

import math
import pickle
import pickletools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UserError

_VALUES = {
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING", "BINSTRING",
    "SHORT_BINSTRING", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "SHORT_BINBYTES", "BINBYTES",
    "BINBYTES8", "BYTEARRAY8",
}  # fmt: skip
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY = {"EMPTY_LIST": list, "EMPTY_TUPLE": tuple, "EMPTY_DICT": dict}
_PUTS, _GETS = ("PUT", "BINPUT", "LONG_BINPUT"), ("GET", "BINGET", "LONG_BINGET")
_NAMES = {
    "collections OrderedDict": "dict",
    "_codecs encode": "encode",
    "__builtin__ bytes": "bytes",  # how protocol 2 spells no bytes
    "numpy ndarray": "class",
    "numpy dtype": "dtype",
} | {
    f"{core}.{name}": word
    for core in ("numpy.core", "numpy._core")
    for name, word in (
        ("multiarray _reconstruct", "empty"),
        ("multiarray scalar", "scalar"),
        ("numeric _frombuffer", "filled"),
    )
}
_NUMBERS = {"b1", "?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}
_STATE_AFTER_ORDER = (None, None, None, -1, -1, 0)
"""What follows the byte order in the state of a dtype that is no structure and holds no objects."""
_KEYS = (str, bytes, int, float, type(None))
_REPEATED = 4
"""So many times the pickle's bytes may its arrays hold, and its entries be: what is in it once can stand in several
places, but not in thousands."""
_DEEPEST = 50
_MOST_DIMENSIONS = 8


@dataclass(frozen=True)
class _Name:
    """What a pickle gets for a name that it asks for."""

    word: str


@dataclass
class _Dtype:
    """A dtype under construction: a plain number, and then its byte order."""

    real: np.dtype[Any]


def load_plain(data: bytes, source: str) -> Any:
    """The object in `data`; `source` is named if it is refused or damaged."""
    try:
        machine = _Machine(_REPEATED * len(data))
        for step, argument, _ in pickletools.genops(data):
            machine.take(step.name, argument)
        return machine.result
    except Exception as error:  # a damaged pickle raises anything at all
        raise UserError(
            f"{source}: refused a pickle that is not plain data ({str(error)[:80]}); do not trust this file"
        ) from None


class _Machine:
    """A pickle is a list of steps for a stack and a memo."""

    def __init__(self, most: int) -> None:
        self.result: Any = None
        self._left = self._most = most
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}
        self._blank: dict[int, Any] = {}
        """Arrays that wait for their content, by identity."""

    def take(self, step: str, argument: Any) -> None:
        stack = self._stack
        if step in _VALUES:
            if isinstance(argument, int) and not -(2**64) < argument < 2**64:
                raise pickle.UnpicklingError("it holds a number of more than 64 bits")
            stack.append(argument)
        elif step in _CONSTANTS:
            stack.append(_CONSTANTS[step])
        elif step in _EMPTY:
            stack.append(_EMPTY[step]())
        elif step == "MARK":
            self._marks.append(len(stack))
        elif step == "MEMOIZE":
            self._memo[len(self._memo)] = stack[-1]
        elif step in _PUTS:
            self._memo[argument] = stack[-1]
        elif step in _GETS:
            stack.append(self._memo[argument])
        elif step in ("TUPLE", "LIST"):
            values = self._since_mark()
            stack.append(tuple(values) if step == "TUPLE" else values)
        elif step in ("TUPLE1", "TUPLE2", "TUPLE3"):
            stack.append(tuple(reversed([stack.pop() for _ in range(int(step[-1]))])))
        elif step in ("APPEND", "APPENDS"):
            values = [stack.pop()] if step == "APPEND" else self._since_mark()
            _require(type(stack[-1]) is list, "it appends to what is no list")
            stack[-1].extend(values)
        elif step in ("SETITEM", "SETITEMS", "DICT"):
            values = [stack.pop(), stack.pop()][::-1] if step == "SETITEM" else self._since_mark()
            if step == "DICT":
                stack.append({})
            _require(type(stack[-1]) is dict, "it puts an entry into what is no dictionary")
            _require(all(isinstance(key, _KEYS) for key in values[::2]), "it has a key that is no word or number")
            stack[-1].update(zip(values[::2], values[1::2], strict=True))
        elif step in ("GLOBAL", "STACK_GLOBAL"):
            name = argument if step == "GLOBAL" else " ".join(reversed([stack.pop(), stack.pop()]))
            _require(name in _NAMES, f"it asks for {name.replace(' ', '.')}")
            stack.append(_Name(_NAMES[name]))
        elif step == "REDUCE":
            arguments, name = stack.pop(), stack.pop()
            _require(isinstance(name, _Name) and isinstance(arguments, tuple), "it calls what is no function")
            stack.append(self._call(name.word, *arguments))
        elif step == "BUILD":
            state = stack.pop()
            self._build(stack[-1], state)
        elif step == "STOP":
            self.result = stack.pop()
            self._require_plain(self.result)
        elif step not in ("PROTO", "FRAME"):
            raise pickle.UnpicklingError(f"it uses {step}")

    def _since_mark(self) -> list[Any]:
        start = self._marks.pop()
        values = self._stack[start:]
        del self._stack[start:]
        return values

    def _call(self, word: str, *arguments: Any) -> Any:
        if word == "dict" and not arguments:
            return {}
        if word == "bytes" and not arguments:
            return b""
        if word == "encode":  # how older protocols spell bytes
            text, encoding = arguments
            _require(isinstance(text, str) and encoding == "latin1", "it encodes other than as latin1")
            return text.encode("latin1")
        if word == "dtype":
            return _dtype(arguments[0])
        if word == "empty":
            array = np.empty(0, "i1")
            self._blank[id(array)] = array
            return array
        if word == "scalar":
            dtype, raw = arguments
            return np.frombuffer(self._bytes_of((1,), dtype, raw), dtype.real)[0]
        if word == "filled":
            raw, dtype, shape, order = arguments
            array = np.frombuffer(self._bytes_of(shape, dtype, raw), dtype.real)
            return array.reshape(shape, order="F" if order == "F" else "C")
        raise pickle.UnpicklingError(f"it calls {word}")

    def _build(self, target: Any, state: Any) -> None:
        _require(not isinstance(target, _Name), "it changes a function")
        if isinstance(target, _Dtype):
            _, order, *rest = state
            plain = all(type(one) is type(other) and one == other for one, other in zip(rest, _STATE_AFTER_ORDER))
            plain = plain and len(rest) == len(_STATE_AFTER_ORDER) and isinstance(order, str) and order in "<>|="
            _require(plain and len(order) == 1, "it holds an array that is not of plain numbers")
            target.real = target.real.newbyteorder(order)  # type: ignore[arg-type]
            return
        _require(self._blank.pop(id(target), None) is target and target is not None, "it changes what is finished")
        _, shape, dtype, fortran, raw = state
        content = self._bytes_of(shape, dtype, raw)
        target.__setstate__((1, shape, dtype.real, bool(fortran), content))

    def _bytes_of(self, shape: Any, dtype: Any, raw: Any) -> bytes:
        """The bytes must be the array's, and all arrays together not many times the pickle."""
        _require(isinstance(dtype, _Dtype), "it holds an array that is not of plain numbers")
        sides = isinstance(shape, tuple) and len(shape) <= _MOST_DIMENSIONS
        sides = sides and all(isinstance(side, int) and side >= 0 for side in shape)
        _require(sides and isinstance(raw, (bytes, bytearray)), "an array's bytes do not fit its shape")
        size = math.prod(shape) * dtype.real.itemsize
        _require(len(raw) == size, "an array's bytes do not fit its shape")
        self._left -= size
        _require(self._left >= 0, "its arrays are far larger than itself")
        return bytes(raw)

    def _require_plain(self, result: Any) -> None:
        """Written out once for each place where it stands, everything stays in proportion, and no loop is in it."""
        waiting, entries = [(result, 0)], 0
        while waiting:
            value, depth = waiting.pop()
            _require(not isinstance(value, (_Name, _Dtype)), "it holds a function")
            if isinstance(value, (list, tuple, dict)):
                inside = value.values() if isinstance(value, dict) else value
                entries += len(inside)
                _require(entries <= self._most, "written out it is far larger than itself")
                _require(depth < _DEEPEST, f"it is nested more than {_DEEPEST} deep")
                waiting.extend((each, depth + 1) for each in inside)


def _dtype(name: Any) -> _Dtype:
    if not isinstance(name, str) or name not in _NUMBERS:
        said = name if isinstance(name, str) else type(name).__name__
        raise pickle.UnpicklingError(f"it holds an array of {said[:20]!r}, not of numbers")
    return _Dtype(np.dtype(name))


def _require(sound: bool, otherwise: str) -> None:
    if not sound:
        raise pickle.UnpicklingError(otherwise)
