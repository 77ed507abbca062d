"""Open a dataset file for reading."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..controls import Vocabulary, vocabulary_of
from ..errors import UserError
from .journal import journal_path, recover
from .layout import ATTRIBUTES, EPISODE_COLUMNS, FORMAT_VERSION, ROW_COLUMNS


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
        except OSError as error:
            raise UserError(
                f"{self.path}: cannot be opened as HDF5 ({error}); it is truncated or not a dataset file"
            ) from None
        try:
            self._check_layout()
        except BaseException:
            self._file.close()
            raise

    def _check_layout(self) -> None:
        for name in (*ROW_COLUMNS, *EPISODE_COLUMNS):
            if not isinstance(self._file.get(name), h5py.Dataset):
                raise UserError(
                    f"{self.path}: has no dataset {name!r}; make it with `actswm record` or `actswm clean`"
                )
        for name in ATTRIBUTES:
            if name not in self._file.attrs:
                raise UserError(f"{self.path}: has no attribute {name!r}; it was not written by actswm")
        version = int(self._file.attrs["format_version"])
        if version > FORMAT_VERSION:
            raise UserError(
                f"{self.path}: format version {version} is newer than {FORMAT_VERSION}; update actswm"
            )
        pixels = self._file["pixels"]
        if pixels.ndim != 4 or pixels.shape[-1] != 3 or pixels.dtype != np.uint8:
            raise UserError(f"{self.path}: pixels are {pixels.dtype} {pixels.shape}, not uint8 (N, h, w, 3)")
        if pixels.id.get_create_plist().get_nfilters():
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

    def column(self, name: str) -> NDArray[Any]:
        """Any small column, whole."""
        if name not in self._file:
            raise UserError(f"{self.path}: has no column {name!r}; it has: {', '.join(self._file)}")
        return self._file[name][:]

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

    @property
    def fps(self) -> float:
        return float(self._file.attrs["fps"])

    @property
    def source(self) -> str:
        return str(self._file.attrs["source"])

    @property
    def action_origin(self) -> str:
        return str(self._file.attrs["action_origin"])

    @cached_property
    def attributes(self) -> dict[str, Any]:
        return json.loads(self._file.attrs["attributes"])

    @cached_property
    def vocabulary(self) -> Vocabulary:
        names = tuple(str(name) for name in self._file.attrs["control_names"])
        try:
            return vocabulary_of(str(self._file.attrs["vocabulary"]), names)
        except UserError as error:
            raise UserError(f"{self.path}: {error}") from None

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> DatasetFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
