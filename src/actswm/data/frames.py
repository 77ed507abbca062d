"""Random access to frames: straight from the mapped file where it is uncompressed, through HDF5 otherwise."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from .reader import DatasetFile
from .soundness import damage_told


class FrameReader:
    """Reads single frames by row number. One per process: open it after a fork, not before.

    An uncompressed chunk is just its frames' bytes at a known place in the file. Mapping the file and copying
    from there skips HDF5's chunk cache and its selection code, and reads no frame that was not asked for.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        file = DatasetFile(path)  # whoever chose the rows has checked it
        self._path = Path(path)
        self.shape: tuple[int, int, int] = (file.height, file.width, 3)
        self._frame_bytes = file.height * file.width * 3
        self._dataset = file.pixels
        self._offsets = self._chunk_offsets()
        self._map: mmap.mmap | None = None
        if self._offsets is not None:
            with open(path, "rb") as raw:
                self._map = mmap.mmap(raw.fileno(), 0, prot=mmap.PROT_READ)
            file.close()

    def _chunk_offsets(self) -> NDArray[np.int64] | None:
        """File offset of each frame, or None where frames cannot be mapped."""
        dataset = self._dataset
        if dataset.chunks is None or dataset.id.get_create_plist().get_nfilters() or not len(dataset):
            return None
        if dataset.chunks[1:] != dataset.shape[1:]:
            return None
        frames = dataset.chunks[0]
        starts = np.full(-(-len(dataset) // frames), -1, np.int64)

        def note(chunk) -> None:  # type: ignore[no-untyped-def]
            starts[chunk.chunk_offset[0] // frames] = chunk.byte_offset

        with damage_told(self._path, "pixels"):
            dataset.id.chunk_iter(note)
        if (starts < 0).any():  # never written: HDF5 would return fill values
            return None
        if int(starts.max()) + frames * self._frame_bytes > self._path.stat().st_size:
            raise UserError(f"{self._path}: frames lie beyond its end; the file is damaged")
        rows = np.arange(len(dataset))
        return starts[rows // frames] + rows % frames * self._frame_bytes

    def read(self, rows: NDArray[np.integer], out: NDArray[np.uint8]) -> None:
        """Copy the frames at ascending `rows`, some perhaps repeated, into out (len(rows), h, w, 3)."""
        if self._map is None or self._offsets is None:
            once, where = np.unique(rows, return_inverse=True)  # HDF5 takes each row once
            with damage_told(self._path, "pixels"):
                out[:] = self._dataset[once][where]
            return
        source = memoryview(self._map)
        target = out.reshape(-1).data
        size = self._frame_bytes
        for i, offset in enumerate(self._offsets[rows].tolist()):
            target[i * size : (i + 1) * size] = source[offset : offset + size]
