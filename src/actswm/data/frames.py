"""Random access to frames: straight from the mapped file where it is uncompressed, through HDF5 otherwise."""

from __future__ import annotations

import mmap
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from ..dataset_paths import AnyDataset
from ..errors import UserError
from .dataset import Dataset, Part
from .opening import open_known
from .reader import DatasetFile
from .sharded import require_rows
from .soundness import damage_told

_OPEN = 256
"""Files of a dataset that are mapped or open at a time: systems allow 1,024 open ones."""


class FrameReader:
    """Reads single frames by row number. One per process: open it after a fork, not before.

    `parts` and `shape` are those of an open dataset: shards that have come since then do not shift its rows.
    """

    def __init__(self, parts: Sequence[Part], shape: tuple[int, int, int]) -> None:
        self.shape = shape
        self._parts = parts
        self._ends = np.cumsum([part.frames for part in parts], dtype=np.int64)
        self._begins = self._ends - [part.frames for part in parts]
        self._tables: dict[int, ChunkTable | None] = {}
        self._open: OrderedDict[int, MappedFrames | StoredFrames] = OrderedDict()

    @classmethod
    def of(cls, data: AnyDataset | Dataset) -> FrameReader:
        """Of a dataset that whoever chose the rows has checked."""
        if isinstance(data, Dataset):
            return cls(data.parts, (data.height, data.width, 3))
        with open_known(data) as file:
            return cls.of(file)

    def read(self, rows: NDArray[np.integer], out: NDArray[np.uint8]) -> None:
        """Copy the frames at ascending `rows`, some perhaps repeated, into out (len(rows), h, w, 3)."""
        begin = 0
        while begin < len(rows):  # a window lies in one part: this turns once
            part = int(np.searchsorted(self._ends, rows[begin], "right"))
            end = int(np.searchsorted(rows, self._ends[part], "left"))
            self._part(part).read(rows[begin:end] - self._begins[part], out[begin:end])
            begin = end

    def _part(self, number: int) -> MappedFrames | StoredFrames:
        if number in self._open:
            self._open.move_to_end(number)
            return self._open[number]
        if len(self._open) >= _OPEN:
            self._open.popitem(last=False)[1].close()
        part = self._parts[number]
        table = self._tables.get(number)
        if table is None:
            file = DatasetFile(part.path)
            require_rows(file, part, self.shape[:2])
            table = chunk_table(file)
            if table is None:
                self._open[number] = StoredFrames(file)
                return self._open[number]
            self._tables[number] = table
            file.close()
        self._open[number] = MappedFrames(part.path, table)
        return self._open[number]


class ChunkTable:
    """Where the chunks of a file's frames lie in it: offsets (n,), each of `frames` frames of `size` bytes."""

    def __init__(self, offsets: NDArray[np.int64], frames: int, size: int) -> None:
        self.offsets, self.frames, self.size = offsets, frames, size


def chunk_table(file: DatasetFile) -> ChunkTable | None:
    """None where frames cannot be mapped."""
    dataset = file.pixels
    if dataset.chunks is None or dataset.id.get_create_plist().get_nfilters() or not len(dataset):
        return None
    if dataset.chunks[1:] != dataset.shape[1:]:
        return None
    frames = dataset.chunks[0]
    size = file.height * file.width * 3
    starts = np.full(-(-len(dataset) // frames), -1, np.int64)

    def note(chunk) -> None:  # type: ignore[no-untyped-def]
        starts[chunk.chunk_offset[0] // frames] = chunk.byte_offset

    with damage_told(file.path, "pixels"):
        dataset.id.chunk_iter(note)
    if (starts < 0).any():  # never written: HDF5 would return fill values
        return None
    if int(starts.max()) + frames * size > file.path.stat().st_size:
        raise UserError(f"{file.path}: frames lie beyond its end; the file is damaged")
    return ChunkTable(starts, frames, size)


class MappedFrames:
    """An uncompressed chunk is just its frames' bytes at a known place in the file. Mapping the file and copying
    from there skips HDF5's chunk cache and its selection code, and reads no frame that was not asked for."""

    def __init__(self, path: Path, table: ChunkTable) -> None:
        self._table = table
        with open(path, "rb") as raw:
            self._map = mmap.mmap(raw.fileno(), 0, prot=mmap.PROT_READ)

    def read(self, rows: NDArray[np.integer], out: NDArray[np.uint8]) -> None:
        table, size = self._table, self._table.size
        offsets = table.offsets[rows // table.frames] + rows % table.frames * size
        target = out.reshape(-1).data
        with memoryview(self._map) as source:
            for i, offset in enumerate(offsets.tolist()):
                target[i * size : (i + 1) * size] = source[offset : offset + size]

    def close(self) -> None:
        self._map.close()


class StoredFrames:
    """Frames that only HDF5 can read."""

    def __init__(self, file: DatasetFile) -> None:
        self._file, pixels = file, file.pixels
        self._source, self._frame = pixels.id, pixels.shape[1:]
        self._place, self._target = pixels.id.get_space(), h5py.h5s.create_simple((1, *self._frame))

    def read(self, rows: NDArray[np.integer], out: NDArray[np.uint8]) -> None:
        count, last = (1, *self._frame), -1
        with damage_told(self._file.path, "pixels"):
            for i, row in enumerate(rows.tolist()):  # one by one: HDF5 is slow to select scattered rows
                if row == last:
                    out[i] = out[i - 1]
                    continue
                self._place.select_hyperslab((row, 0, 0, 0), count)
                self._source.read(self._target, self._place, out[i : i + 1])
                last = row

    def close(self) -> None:
        self._file.close()
