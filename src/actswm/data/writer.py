"""Append episodes to a dataset file. Each becomes visible whole, or not at all, whatever kills the process."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..atomic import write_whole, written_whole
from ..errors import UserError
from ..processes import interrupts_held_back
from .journal import JournaledFile, journal_path
from .layout import FORMAT_VERSION, PACKINGS, DatasetSpec
from .soundness import damage_told
from .validation import open_file

_SMALL_CHUNK = 1024


class DatasetWriter:
    """Creates the file at `path`, or continues one of the same spec.

    with DatasetWriter(path, spec) as writer, writer.episode() as episode:
        episode.add(pixels, action)

    Ctrl+C waits while HDF5 is at work: an exception inside its calls to the journal would crash the process.
    """

    @interrupts_held_back()
    def __init__(self, path: str | os.PathLike[str], spec: DatasetSpec) -> None:
        self.path = Path(path)
        self.spec = spec
        if self.path.exists():
            _require_same(self.path, spec)
        else:
            _create(self.path, spec)
        self._open()

    def _open(self) -> None:
        if self.spec.compression:
            import hdf5plugin  # noqa: F401  (registers the filter)
        self._journal = JournaledFile(self.path)
        with damage_told(self.path, "the file"):
            self._file = h5py.File(self._journal, "r+", rdcc_nbytes=4 * 2**20)

    def rows_of(self, episode: int) -> range:
        """The rows of an episode that is in the file."""
        offset = int(self._file["ep_offset"][episode])
        return range(offset, offset + int(self._file["ep_len"][episode]))

    @property
    def num_frames(self) -> int:
        return self._file["pixels"].shape[0]

    @property
    def num_episodes(self) -> int:
        return self._file["ep_len"].shape[0]

    @contextmanager
    def episode(self) -> Iterator[EpisodeWriter]:
        """Stream one episode; leaving the block commits it, an exception takes it back."""
        episode = EpisodeWriter(self._file, self.spec, self._journal)
        try:
            yield episode
            with interrupts_held_back(), self._failure_told():
                episode.finish()
                self._file.flush()
                self._journal.commit()
        except BaseException:
            self._rollback()
            raise

    @contextmanager
    def _failure_told(self) -> Iterator[None]:
        """Where the disk has failed, that is the reason, not what HDF5 makes of it."""
        try:
            yield
        except (OSError, RuntimeError, ValueError):
            self._journal.check()
            raise

    def append(
        self,
        pixels: NDArray[np.uint8],
        action: NDArray[Any],
        frame_valid: NDArray[Any] | None = None,
        **columns: NDArray[Any],
    ) -> None:
        """Write one whole episode."""
        with interrupts_held_back(), self.episode() as episode:
            episode.add(pixels, action, frame_valid, **columns)

    @interrupts_held_back()
    def _rollback(self) -> None:
        self._journal.discard()
        self._file.close()
        self._journal.close()
        self._open()

    @interrupts_held_back()
    def close(self) -> None:
        if self._file:
            try:
                with self._failure_told():
                    self._file.close()
                    self._journal.commit()
            finally:
                self._journal.close()

    def __enter__(self) -> DatasetWriter:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


@contextmanager
def new_dataset(path: Path, spec: DatasetSpec) -> Iterator[DatasetWriter]:
    """A writer of a file that appears at `path`, in place of what was there, when the block ends well."""
    with written_whole(path) as temporary:
        try:
            with DatasetWriter(temporary, spec) as writer:
                yield writer
        finally:
            journal_path(temporary).unlink(missing_ok=True)


class EpisodeWriter:
    """Rows of the episode being written."""

    def __init__(self, file: h5py.File, spec: DatasetSpec, journal: JournaledFile) -> None:
        self._file = file
        self._journal = journal
        self._spec = spec
        self._offset = file["pixels"].shape[0]
        self._index = file["ep_len"].shape[0]
        self.length = 0

    @interrupts_held_back()
    def add(
        self,
        pixels: NDArray[np.uint8],
        action: NDArray[Any],
        frame_valid: NDArray[Any] | None = None,
        **columns: NDArray[Any],
    ) -> None:
        """Append n rows: pixels (n,h,w,3) uint8, action (n,A), frame_valid (n,), and the spec's columns."""
        count = len(pixels)
        expected = (count, self._spec.height, self._spec.width, 3)
        if pixels.shape != expected or pixels.dtype != np.uint8:
            raise ValueError(f"pixels must be uint8 {expected}, not {pixels.dtype} {pixels.shape}")
        if action.shape != (count, self._spec.vocabulary.size) or not np.isfinite(action).all():
            raise ValueError(
                f"action must be finite ({count}, {self._spec.vocabulary.size}), not {action.shape}"
            )
        if set(columns) != set(self._spec.columns):
            raise ValueError(
                f"columns {sorted(columns)} do not match the spec's {sorted(self._spec.columns)}"
            )
        rows = {
            "pixels": pixels,
            "action": action,
            "episode_idx": np.full(count, self._index),
            "step_idx": np.arange(self.length, self.length + count),
            "frame_valid": np.ones(count) if frame_valid is None else frame_valid,
            "boundary_mask": np.zeros(count),
            **columns,
        }
        for name, values in rows.items():
            self._extend(name, values)
        self.length += count

    def finish(self) -> None:
        if self.length == 0:
            raise ValueError("an episode needs at least one row")
        boundary = self._file["boundary_mask"]
        boundary[self._offset] = 1
        boundary[self._offset + self.length - 1] = 1
        self._extend("ep_len", [self.length])
        self._extend("ep_offset", [self._offset])

    def _extend(self, name: str, values: Any) -> None:
        """Rows of one column. Where the disk has failed, that is the reason; else what is there already is damaged."""
        with damage_told(self._journal.path, name):
            try:
                dataset = self._file[name]
                start = dataset.shape[0]
                dataset.resize(start + len(values), axis=0)
                dataset[start:] = values
            finally:
                self._journal.check()


def _small_columns(spec: DatasetSpec) -> dict[str, tuple[str, tuple[int, ...]]]:
    """All columns but the pixels: type, and shape of a row."""
    return {
        "action": ("float32", (spec.vocabulary.size,)),
        "episode_idx": ("int64", ()),
        "step_idx": ("int64", ()),
        "frame_valid": ("uint8", ()),
        "boundary_mask": ("uint8", ()),
        "ep_len": ("int32", ()),
        "ep_offset": ("int64", ()),
        **{name: (column.dtype, column.shape) for name, column in spec.columns.items()},
    }


def _create(path: Path, spec: DatasetSpec) -> None:
    filters: dict[str, Any] = {}
    if spec.compression:
        if spec.compression not in PACKINGS:
            raise UserError(f"unknown compression {spec.compression!r}; use {', '.join(PACKINGS)} or none")
        import hdf5plugin

        codec, level = PACKINGS[spec.compression]
        filters = dict(hdf5plugin.Blosc(cname=codec, clevel=level))
    # in memory: HDF5 does not survive a full disk
    with h5py.File(path.name, "w", driver="core", backing_store=False) as file:
        frame = (spec.height, spec.width, 3)
        file.create_dataset(
            "pixels",
            (0, *frame),
            "uint8",
            maxshape=(None, *frame),
            chunks=(spec.chunk_frames, *frame),
            **filters,
        )
        for name, (dtype, shape) in _small_columns(spec).items():
            file.create_dataset(
                name, (0, *shape), dtype, maxshape=(None, *shape), chunks=(_SMALL_CHUNK, *shape)
            )
        file.attrs["format_version"] = FORMAT_VERSION
        file.attrs["fps"] = float(spec.fps)
        file.attrs["vocabulary"] = spec.vocabulary.spelling
        file.attrs["control_names"] = list(spec.vocabulary.names)
        file.attrs["source"] = spec.source
        file.attrs["action_origin"] = spec.action_origin
        file.attrs["attributes"] = json.dumps(dict(spec.attributes))
        file.flush()
        image = file.id.get_file_image()
    write_whole(path, image)


def _require_same(path: Path, spec: DatasetSpec) -> None:
    """Refuse to append rows of another kind."""
    with open_file(path, may_be_empty=True) as file:
        found = {
            "frame size": (file.height, file.width),
            "vocabulary": file.vocabulary.spelling,
            "fps": file.fps,
            "source": file.source,
            "action origin": file.action_origin,
            "extra columns": sorted(file.extra_columns),
        }
        forms = {
            name: (column.dtype, column.shape[1:]) if column.maxshape[0] is None else "of a fixed length"
            for name, column in file.pixels.file.items()
        }
    wanted = {
        "frame size": (spec.height, spec.width),
        "vocabulary": spec.vocabulary.spelling,
        "fps": float(spec.fps),
        "source": spec.source,
        "action origin": spec.action_origin,
        "extra columns": sorted(spec.columns),
    }
    for what, value in wanted.items():
        if found[what] != value:
            raise UserError(
                f"{path}: exists with {what} {found[what]}, but {value} is to be written; choose another file"
            )
    pixels = ("uint8", (spec.height, spec.width, 3))
    for name, (dtype, shape) in (_small_columns(spec) | {"pixels": pixels}).items():
        if forms[name] != (np.dtype(dtype), shape):
            raise UserError(
                f"{path}: its {name!r} is {forms[name]}, not {dtype} {shape} to go on with; choose another file"
            )
