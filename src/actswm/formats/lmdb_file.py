"""Looks keys up in an LMDB file without mapping it: the C library follows a damaged page out of the map and crashes.

An LMDB file is a B+ tree of pages. Pages 0 and 1 are headers, of which the younger counts; branch and leaf pages hold
nodes in the order of their keys; a value that does not fit into a leaf lies on pages of its own.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import NamedTuple

from ..errors import UserError

_MAGIC, _VERSION = 0xBEEFC0DE, 1
_PAGE_HEAD = struct.Struct("<QHHHH")
"""Page number, padding, flags, and where the free space of the page begins and ends."""
_META = struct.Struct("<IIQQ" + "IHHQQQQQ" * 2 + "QQ")
"""Magic, version, address, map size; the trees of free pages and of data; last page, transaction."""
_NODE = struct.Struct("<HHHH")
"""Two halves of a size (or of a page number), flags (or its upper part), key length."""
_BRANCH, _LEAF, _OVERFLOW = 1, 2, 4
_ELSEWHERE = 1
_NO_ROOT = 2**64 - 1
_DEEPEST = 32
_PAGE_SIZES = [2**power for power in range(8, 17)]


class _Meta(NamedTuple):
    page_size: int
    root: int
    last_page: int
    transaction: int


class LmdbFile:
    """The unnamed database of `<folder>/data.mdb`, read-only. Every place that a page names is checked first."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "data.mdb"
        try:
            self._file = self.path.open("rb", buffering=0)
        except OSError as error:
            raise UserError(f"{self.path}: cannot be opened ({error.strerror})") from None
        self._size = os.fstat(self._file.fileno()).st_size
        first = self._meta(0)
        self._page_size = first.page_size
        self._head = max(first, self._meta(first.page_size), key=lambda meta: meta.transaction)
        promised = (self._head.last_page + 1) * self._page_size
        if self._size < promised:
            raise self._damaged(f"it has {self._size} of {promised} bytes")

    def get(self, key: bytes) -> bytes | None:
        """The value under `key`, or None."""
        number = self._head.root
        if number == _NO_ROOT:
            return None
        for _ in range(_DEEPEST):
            page = self._read(number * self._page_size, self._page_size)
            _, _, flags, lower, _ = _PAGE_HEAD.unpack_from(page)
            count = (lower - _PAGE_HEAD.size) // 2
            if not 0 <= count <= self._page_size // 2 or not flags & (_BRANCH | _LEAF):
                raise self._damaged(f"page {number} is neither branch nor leaf")
            if flags & _LEAF:
                index = self._position(page, key, 0, count)
                found = index < count and self._key(page, index) == key
                return self._value(page, index) if found else None
            # A branch's node stands for all keys from its own up to the next; the first one's is not stored.
            index = self._position(page, key, 1, count)
            exact = index < count and self._key(page, index) == key
            low, high, upper, _ = _NODE.unpack_from(page, self._node(page, index if exact else index - 1))
            number = low | high << 16 | upper << 32
        raise self._damaged("its tree has no end")

    def _position(self, page: bytes, key: bytes, low: int, high: int) -> int:
        """The first of the nodes `low`... whose key is not before `key`, or `high`."""
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._key(page, middle) >= key else (middle + 1, high)
        return low

    def _node(self, page: bytes, index: int) -> int:
        place = _PAGE_HEAD.size + 2 * index
        if place + 2 > len(page):
            raise self._damaged("a node lies outside its page")
        start = int.from_bytes(page[place : place + 2], "little")
        if start + _NODE.size > len(page):
            raise self._damaged("a node lies outside its page")
        return start

    def _key(self, page: bytes, index: int) -> bytes:
        start = self._node(page, index)
        size = _NODE.unpack_from(page, start)[3]
        return page[start + _NODE.size : start + _NODE.size + size]

    def _value(self, page: bytes, index: int) -> bytes:
        start = self._node(page, index)
        low, high, flags, key_size = _NODE.unpack_from(page, start)
        size, begin = low | high << 16, start + _NODE.size + key_size
        if flags & _ELSEWHERE:
            number = int.from_bytes(page[begin : begin + 8], "little")
            place = number * self._page_size
            _, _, kind, *_ = _PAGE_HEAD.unpack(self._read(place, _PAGE_HEAD.size))
            if not kind & _OVERFLOW:
                raise self._damaged(f"page {number} does not hold a value")
            return self._read(place + _PAGE_HEAD.size, size)
        if flags or begin + size > len(page):
            raise self._damaged("a value lies outside its page")
        return page[begin : begin + size]

    def _meta(self, place: int) -> _Meta:
        fields = _META.unpack(self._read(place + _PAGE_HEAD.size, _META.size))
        magic, version, page_size, root = fields[0], fields[1], fields[4], fields[19]
        if magic != _MAGIC or version != _VERSION or page_size not in _PAGE_SIZES:
            raise self._damaged("its header is not LMDB's")
        return _Meta(page_size, root, *fields[20:])

    def _read(self, place: int, size: int) -> bytes:
        if place + size > self._size:
            raise self._damaged("it points behind its end")
        data = os.pread(self._file.fileno(), size, place)
        if len(data) != size:
            raise self._damaged("it became shorter")
        return data

    def _damaged(self, why: str) -> UserError:
        return UserError(f"{self.path}: truncated or damaged LMDB ({why}); download it again")
