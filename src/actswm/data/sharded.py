"""Many dataset files read as one. Rows and episodes count through the shards in their order."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from .agreement import Member, shared_spec
from .dataset import Dataset, Part
from .layout import EPISODE_COLUMNS, Column
from .reader import DatasetFile
from .shard_index import indexed

_OPEN = 16
"""Shards whose files stay open at a time."""


class ShardedDataset(Dataset):
    """What the index knows costs no file to be opened; actions, extra columns and frames come from the shards."""

    def __init__(self, path: Path, files: Sequence[Path], *, may_be_empty: bool = False) -> None:
        self.path = path
        shards = indexed(files)
        self._shards = [shard for shard in shards if len(shard.ep_len)]
        if not self._shards and not may_be_empty:
            raise UserError(f"{path}: it holds no episode yet")
        said = self._shards or shards[:1]
        self._spec = shared_spec([Member(shard.path, shard.spec, len(shard.ep_len)) for shard in said])
        self.fps, self.source = self._spec.fps, self._spec.source
        self.action_origin, self.vocabulary = self._spec.action_origin, self._spec.vocabulary
        self.attributes = dict(self._spec.attributes)
        self._ends = np.cumsum([shard.frames for shard in self._shards], dtype=np.int64)
        self._files: OrderedDict[int, DatasetFile] = OrderedDict()

    @property
    def height(self) -> int:
        return self._spec.height

    @property
    def width(self) -> int:
        return self._spec.width

    @property
    def num_frames(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    @property
    def num_episodes(self) -> int:
        return len(self._lengths)

    @property
    def columns(self) -> Mapping[str, Column]:
        return self._spec.columns

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(Part(shard.path, shard.frames) for shard in self._shards)

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        return np.concatenate([np.zeros(0, np.int64), *(shard.ep_len for shard in self._shards)])

    def column(self, name: str, rows: slice = slice(None)) -> NDArray[Any]:
        """Any small column, whole or in part."""
        if name in EPISODE_COLUMNS or name in ("episode_idx", "step_idx", "frame_valid", "boundary_mask"):
            return self._from_index(name)[rows]
        if name not in ("pixels", "action", *self.columns):
            raise UserError(f"{self.path}: has no column {name!r} in all its shards")
        begin, end, step = rows.indices(self.num_frames)
        if step != 1:
            return self.column(name)[rows]
        pieces = [file.column(name, local) for file, local in self._pieces(begin, max(begin, end))]
        return np.concatenate(pieces) if pieces else self._open(0).column(name, slice(0, 0))

    def frames(self, rows: slice | NDArray[np.integer]) -> NDArray[np.uint8]:
        """(n, h, w, 3) at ascending rows."""
        if isinstance(rows, slice):
            return self.column("pixels", rows)
        rows = np.asarray(rows)
        number = np.searchsorted(self._ends, rows, "right")
        out = np.empty((len(rows), self.height, self.width, 3), np.uint8)
        for shard in np.unique(number):
            here = number == shard
            out[here] = self._open(int(shard)).frames(rows[here] - self._first(shard))
        return out

    def close(self) -> None:
        while self._files:
            self._files.popitem()[1].close()

    def _first(self, shard: int) -> int:
        return int(self._ends[shard]) - self._shards[shard].frames

    def _pieces(self, begin: int, end: int) -> Iterator[tuple[DatasetFile, slice]]:
        """The files that hold the rows from `begin` to `end`, and which of theirs these are."""
        while begin < end:
            shard = int(np.searchsorted(self._ends, begin, "right"))
            first, stop = self._first(shard), min(end, int(self._ends[shard]))
            yield self._open(shard), slice(begin - first, stop - first)
            begin = stop

    def _open(self, number: int) -> DatasetFile:
        if number in self._files:
            self._files.move_to_end(number)
            return self._files[number]
        file = DatasetFile(self._shards[number].path)
        require_rows(file, Part(file.path, self._shards[number].frames), (self.height, self.width))
        if len(self._files) >= _OPEN:
            self._files.popitem(last=False)[1].close()
        self._files[number] = file
        return file

    def _from_index(self, name: str) -> NDArray[Any]:
        """A column that follows from the episodes' lengths and the index's exceptions."""
        ends = np.cumsum(self._lengths)
        if name == "ep_len":
            return self._lengths.astype(np.int32)
        if name == "ep_offset":
            return ends - self._lengths
        if name == "episode_idx":
            return np.repeat(np.arange(self.num_episodes), self._lengths)
        if name == "step_idx":
            return np.arange(self.num_frames) - np.repeat(ends - self._lengths, self._lengths)
        if name == "frame_valid":
            return self._valid()
        boundary = np.zeros(self.num_frames, np.uint8)
        boundary[ends - 1] = boundary[ends - self._lengths] = 1
        for number, shard in enumerate(self._shards):
            boundary[shard.inner + self._first(number)] = 1
        return boundary

    def _valid(self) -> NDArray[np.uint8]:
        valid = np.ones(self.num_frames, np.uint8)
        for number, shard in enumerate(self._shards):
            for begin, end in shard.invalid + self._first(number):
                valid[begin:end] = 0
        return valid


def require_rows(file: DatasetFile, part: Part, size: tuple[int, int]) -> None:
    """A shard may have grown since it was chosen from; it may not have become another one."""
    if file.num_frames < part.frames or (file.height, file.width) != size:
        file.close()
        raise UserError(f"{part.path}: was replaced while it was in use; run the command again")
