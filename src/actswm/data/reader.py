"""Open a dataset file for reading."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from .journal import journal_path, recover
from .layout import EPISODE_COLUMNS, ROW_COLUMNS
from .soundness import check_shapes, damage_told, read_attributes


class DatasetFile:
    """A read-only view. Small columns come as arrays; `pixels` is an h5py dataset, read on demand."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise UserError(f"{self.path}: no such dataset file")
        if journal_path(self.path).exists():
            recover(self.path)
        try:
            self._file = h5py.File(self.path, "r")
        except (OSError, RuntimeError, ValueError) as error:
            raise UserError(
                f"{self.path}: cannot be opened as HDF5 ({error}); it is truncated or not a dataset file"
            ) from None
        try:
            with damage_told(self.path, "its layout"):
                self._check_layout()
        except BaseException:
            self._file.close()
            raise

    def _check_layout(self) -> None:
        """Everything that can be known without reading a column: kinds, shapes, attributes."""
        for name in (*ROW_COLUMNS, *EPISODE_COLUMNS):
            if name not in self._file:
                raise UserError(
                    f"{self.path}: has no dataset {name!r}; make it with `actswm record` or `actswm clean`"
                )
        attributes = read_attributes(self.path, self._file)
        self.fps, self.source = attributes.fps, attributes.source
        self.action_origin, self.vocabulary = attributes.action_origin, attributes.vocabulary
        self.attributes = attributes.attributes
        check_shapes(self.path, self._file, self.vocabulary.size)
        if self._file["pixels"].id.get_create_plist().get_nfilters():
            import hdf5plugin  # noqa: F401  (registers the filters)

    @property
    def pixels(self) -> h5py.Dataset:
        return self._file["pixels"]

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

    def column(self, name: str, rows: slice = slice(None)) -> NDArray[Any]:
        """Any small column, whole or in part."""
        if name not in self._file:
            raise UserError(f"{self.path}: has no column {name!r}; it has: {', '.join(self._file)}")
        with damage_told(self.path, name):
            return self._file[name][rows]

    def frames(self, rows: slice | NDArray[np.integer]) -> NDArray[np.uint8]:
        """(n, h, w, 3) at ascending rows."""
        return self.column("pixels", rows)  # type: ignore[arg-type]

    @property
    def extra_columns(self) -> tuple[str, ...]:
        return tuple(name for name in self._file if name not in (*ROW_COLUMNS, *EPISODE_COLUMNS))

    @property
    def height(self) -> int:
        return self.pixels.shape[1]

    @property
    def width(self) -> int:
        return self.pixels.shape[2]

    @property
    def num_frames(self) -> int:
        return self.pixels.shape[0]

    @property
    def num_episodes(self) -> int:
        return self._file["ep_len"].shape[0]

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> DatasetFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
