"""What every reader of a dataset sees, be it one file or many shards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..controls import Vocabulary
from .layout import Column


@dataclass(frozen=True)
class Part:
    """One file of a dataset, and how many of its rows belong to it."""

    path: Path
    frames: int


class Dataset(ABC):
    """A read-only view. Small columns come as arrays, frames on demand; rows count through all files."""

    path: Path
    fps: float
    source: str
    action_origin: str
    vocabulary: Vocabulary
    attributes: dict[str, Any]

    @property
    @abstractmethod
    def height(self) -> int: ...

    @property
    @abstractmethod
    def width(self) -> int: ...

    @property
    @abstractmethod
    def num_frames(self) -> int: ...

    @property
    @abstractmethod
    def num_episodes(self) -> int: ...

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, Column]:
        """The extra ones, with their forms."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """Its files, in the order of the rows."""

    @abstractmethod
    def column(self, name: str, rows: slice = slice(None)) -> NDArray[Any]:
        """Any small column, whole or in part."""

    @abstractmethod
    def frames(self, rows: slice | NDArray[np.integer]) -> NDArray[np.uint8]:
        """(n, h, w, 3) at ascending rows."""

    @abstractmethod
    def close(self) -> None: ...

    @property
    def extra_columns(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @cached_property
    def action(self) -> NDArray[np.float32]:
        return self.column("action").astype(np.float32, copy=False)

    @cached_property
    def episode_idx(self) -> NDArray[np.int64]:
        return self.column("episode_idx")

    @cached_property
    def step_idx(self) -> NDArray[np.int64]:
        return self.column("step_idx")

    @cached_property
    def frame_valid(self) -> NDArray[np.bool_]:
        return self.column("frame_valid").astype(bool)

    @cached_property
    def boundary_mask(self) -> NDArray[np.bool_]:
        return self.column("boundary_mask").astype(bool)

    @cached_property
    def ep_len(self) -> NDArray[np.int32]:
        return self.column("ep_len")

    @cached_property
    def ep_offset(self) -> NDArray[np.int64]:
        return self.column("ep_offset")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()
