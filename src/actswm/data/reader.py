"""Open a dataset file for reading."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from .dataset import Dataset, Part
from .journal import journal_path, recover
from .layout import EPISODE_COLUMNS, ROW_COLUMNS, Column
from .soundness import check_shapes, damage_told, read_attributes


class DatasetFile(Dataset):
    """One file. `pixels` is an h5py dataset, read on demand."""

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
    def columns(self) -> dict[str, Column]:
        extra = {name: self._file[name] for name in self._file if name not in (*ROW_COLUMNS, *EPISODE_COLUMNS)}
        return {name: Column(str(column.dtype), column.shape[1:]) for name, column in extra.items()}

    @property
    def parts(self) -> tuple[Part, ...]:
        return (Part(self.path, self.num_frames),)

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
