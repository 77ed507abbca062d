"""What a dataset file is: names, types and attributes, in one place for writer, reader and validator.

Rows are raw steps: row i holds the frame and the action taken in it. Rows of an episode are contiguous.
`ep_len` and `ep_offset` repeat the episode structure so that stable-worldmodel opens the same file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..controls import Vocabulary

FORMAT_VERSION = 1
ROW_COLUMNS = ("pixels", "action", "episode_idx", "step_idx", "frame_valid", "boundary_mask")
EPISODE_COLUMNS = ("ep_len", "ep_offset")
ATTRIBUTES = ("format_version", "fps", "vocabulary", "control_names", "source", "action_origin", "attributes")


@dataclass(frozen=True)
class Column:
    """An extra value per row: `dtype` and the shape of one entry."""

    dtype: str
    shape: tuple[int, ...] = ()


PACKINGS: dict[str, tuple[Literal["zstd", "lz4hc"], int]] = {
    "blosc-zstd": ("zstd", 3),
    "blosc-lz4": ("lz4hc", 9),
}
"""Ways to pack frames: blosc's codec and level."""


@dataclass(frozen=True)
class DatasetSpec:
    """What a writer must know before the first row."""

    vocabulary: Vocabulary
    height: int
    width: int
    fps: float
    source: str
    action_origin: str = "recorded"
    """How the actions came about: `recorded`, or `recovered by <model>`."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Anything else worth keeping, JSON-able: command, seed, provenance."""
    columns: Mapping[str, Column] = field(default_factory=dict)
    compression: str | None = None
    """None for training; one of `PACKINGS` where disk is short."""

    @property
    def chunk_frames(self) -> int:
        """Frames in one HDF5 chunk: about a megabyte, so that any reader's chunk cache holds one.

        Compressed, each frame by itself: a window that skips frames decodes none of them.
        """
        if self.compression:
            return 1
        return max(1, min(16, 2**20 // (self.height * self.width * 3)))
