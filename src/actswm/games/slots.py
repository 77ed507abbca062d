"""Episodes in memory that a worker fills and the writer reads, without a copy between them.

The memory has no name in the file system: it disappears with the last process that holds it, whatever ends them.
"""

from __future__ import annotations

import mmap
import os
from multiprocessing.reduction import DupFd
from typing import Any

import numpy as np

from .episodes import Episode

SLOTS = 2
"""A worker plays into one slot while the other is written to disk."""


class EpisodeSlots:
    """Room for SLOTS episodes of up to `steps` rows. Pickles for a process that is being started."""

    def __init__(self, steps: int, size: tuple[int, int], controls: int, pose: int) -> None:
        self._shapes = ((steps, *size, 3), (steps, controls), (steps, pose))
        self._map(os.memfd_create("actswm-episodes"))

    def __getstate__(self) -> dict[str, Any]:
        return {"shapes": self._shapes, "descriptor": DupFd(self._descriptor)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._shapes = state["shapes"]
        self._map(state["descriptor"].detach())

    def buffer(self, slot: int) -> Episode:
        """The slot's memory as a whole, to be filled."""
        return self._buffers[slot]

    def close(self) -> None:
        os.close(self._descriptor)

    def _map(self, descriptor: int) -> None:
        self._descriptor = descriptor
        dtypes = (np.uint8, np.float32, np.float32)
        sizes = [int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in zip(self._shapes, dtypes)]
        pages = -(-sum(sizes) // mmap.PAGESIZE) * mmap.PAGESIZE
        os.truncate(descriptor, pages * SLOTS)
        memory = mmap.mmap(descriptor, pages * SLOTS)
        self._buffers = []
        for slot in range(SLOTS):
            offset, arrays = slot * pages, []
            for shape, dtype, size in zip(self._shapes, dtypes, sizes):
                arrays.append(np.frombuffer(memory, dtype, int(np.prod(shape)), offset).reshape(shape))
                offset += size
            self._buffers.append(Episode(0, *arrays))
