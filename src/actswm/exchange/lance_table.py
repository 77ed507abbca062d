"""Lance tables in the form of stable-worldmodel: a row for each step, in order, its frame as JPEG.

Its own writer keeps every number as float32. What does not fit into one (seeds, times) keeps its own type here, which
its reader takes just as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import lance
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..atomic import folder_written_whole
from ..data.agreement import spec_of
from ..data.dataset import Dataset
from ..data.layout import Column, DatasetSpec
from ..errors import UserError
from .arrow import arrow_array, column_of, column_values, entries_of
from .importing import BLOCK, Episode, own_vocabulary, stacked
from .passport import kept_columns, passport_of, spec_of_passport

_QUALITY = 95
_ROWS = 256
"""In one batch of an export."""
_METADATA = b"actswm"
_INDEX = ("episode_idx", "step_idx")


def export_lance(data: Dataset, out: Path, progress: Callable[[int], None] = lambda frames: None) -> None:
    """Write `out`, a folder named `<table>.lance` that is not there yet; it appears when it is complete."""
    if out.suffix != ".lance":
        raise UserError(f"{out}: a Lance table is a folder named <table>.lance")
    spec = spec_of(data)
    names = ("pixels", "action", "frame_valid", *spec.columns)
    first = _batch(data, names, slice(0, 1))
    schema = first.schema.with_metadata({_METADATA: json.dumps(passport_of(spec))})

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, data.num_frames, _ROWS):
            end = min(start + _ROWS, data.num_frames)
            yield _batch(data, names, slice(start, end)).replace_schema_metadata(schema.metadata)
            progress(end)

    with folder_written_whole(out) as folder:
        lance.write_dataset(pa.RecordBatchReader.from_batches(schema, batches()), str(folder), mode="create")


def _batch(data: Dataset, names: tuple[str, ...], rows: slice) -> pa.RecordBatch:
    arrays = {name: pa.array(data.column(name, rows), pa.int32()) for name in _INDEX}
    for name in names:
        if name == "pixels":
            arrays[name] = pa.array([_jpeg(frame) for frame in data.frames(rows)], pa.binary())
            continue
        values = data.column(name, rows)
        if values.dtype.kind == "S":
            arrays[_stored(name)] = arrow_array(values)
        elif np.can_cast(values.dtype, np.float32):
            arrays[_stored(name)] = arrow_array(values.astype(np.float32), int(np.prod(values.shape[1:])))
        else:
            arrays[_stored(name)] = arrow_array(
                values, 0 if values.ndim == 1 else int(np.prod(values.shape[1:]))
            )
    return pa.record_batch(arrays)


def _stored(name: str) -> str:
    """Lance takes a dot for a path inside a column."""
    return name.replace(".", "_")


def _jpeg(frame: NDArray[np.uint8]) -> bytes:
    """With a colour for every pixel (4:4:4): frames are small."""
    how = [
        cv2.IMWRITE_JPEG_QUALITY,
        _QUALITY,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
    ]
    return cv2.imencode(".jpg", cv2.cvtColor(frame, cv2.COLOR_RGB2BGR), how)[1].tobytes()


class LanceTable:
    """An `Importable`. `camera`: which pictures to take, where there are several; `fps` and `vocabulary`: what a table
    that was not exported here does not tell."""

    def __init__(
        self,
        path: Path,
        camera: str | None = None,
        vocabulary: str | None = None,
        fps: float | None = None,
    ) -> None:
        if not path.is_dir():
            raise UserError(f"{path}: no such Lance table (a folder named <table>.lance)")
        self._path = path
        with self._damage_told():
            self._table = lance.dataset(str(path))
        schema = self._table.schema
        self._camera = self._choose(schema, camera)
        for name in (*_INDEX, "action"):
            if name not in schema.names:
                raise UserError(f"{path}: has no column {name!r}; it is not in the form of stable-worldmodel")
        episode, step = (self._whole(name) for name in _INDEX)
        begins = np.flatnonzero(np.diff(episode, prepend=episode[:1] - 1))
        if (np.diff(episode) < 0).any() or not np.array_equal(
            step, np.arange(len(step)) - _filled(begins, len(step))
        ):
            raise UserError(
                f"{path}: its rows are not episode after episode, step after step; write it again"
            )
        self._bounds = list(zip(begins.tolist(), [*begins[1:].tolist(), len(episode)]))
        if not self._bounds:
            raise UserError(f"{path}: holds no episode")
        self.num_frames = len(episode)
        self.spec = self._spec(schema, vocabulary, fps)

    def episodes(self) -> Iterator[Episode]:
        names = ["action", *map(_stored, self.spec.columns)]
        names += ["frame_valid"] if "frame_valid" in self._table.schema.names else []
        action = Column("float32", (self.spec.vocabulary.size,))
        for number, (start, end) in enumerate(self._bounds):
            rows, where = self._read(names, start, end), f"{self._path}: episode {number}"
            valid = entries_of(rows["frame_valid"], where).ravel() > 0 if "frame_valid" in rows else np.True_
            columns = {
                name: column_values(rows[_stored(name)], column, f"{where}: {name}")
                for name, column in self.spec.columns.items()
            }
            actions = column_values(rows["action"], action, f"{where}: action")
            yield Episode(
                where, actions, np.broadcast_to(valid, end - start), columns, self._frames(start, end)
            )

    def _choose(self, schema: pa.Schema, camera: str | None) -> str:
        pictures = [
            field.name
            for field in schema
            if pa.types.is_binary(field.type) or pa.types.is_large_binary(field.type)
        ]
        if camera is None and ("pixels" in pictures or len(pictures) == 1):
            return "pixels" if "pixels" in pictures else pictures[0]
        if camera is not None and camera in pictures:
            return camera
        what = f"has no pictures {camera!r}" if camera else "has several pictures, or none"
        raise UserError(
            f"{self._path}: {what}; choose with --camera: {', '.join(pictures) or 'there are none'}"
        )

    def _spec(self, schema: pa.Schema, vocabulary: str | None, fps: float | None) -> DatasetSpec:
        height, width = next(self._frames(0, 1))[0].shape[1:3]
        told = (schema.metadata or {}).get(_METADATA)
        if told is not None and not vocabulary:
            try:
                return spec_of_passport(json.loads(told), str(self._path), height, width)
            except (ValueError, RecursionError):
                raise UserError(
                    f"{self._path}: its metadata 'actswm' is not valid JSON; export it again"
                ) from None
        if fps is None:
            raise UserError(f"{self._path}: a Lance table does not tell its frames a second; add --fps")
        first = self._read(schema.names, 0, 1)
        others = {
            name: column_of(array, f"{self._path}: {name}")
            for name, array in first.items()
            if not pa.types.is_binary(array.type) and not pa.types.is_string(array.type) and name != "action"
        }
        size = entries_of(first["action"], f"{self._path}: action").shape[1]
        return DatasetSpec(
            own_vocabulary(vocabulary, None, size, str(self._path)),
            height,
            width,
            fps,
            f"lance/{self._path.resolve().stem}",
            columns=kept_columns(others),
        )

    def _whole(self, name: str) -> NDArray[Any]:
        return self._read([name], 0, None)[name].to_numpy(zero_copy_only=False)

    def _read(self, names: list[str], start: int, end: int | None) -> dict[str, pa.Array]:
        with self._damage_told():
            limit = None if end is None else end - start
            table = self._table.to_table(columns=names, offset=start, limit=limit)
            return {name: pa.concat_arrays(table[name].chunks) for name in names}

    def _frames(self, start: int, end: int) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.bool_]]]:
        for first in range(start, end, BLOCK):
            pictures = self._read([self._camera], first, min(first + BLOCK, end))[self._camera].to_pylist()
            frames = [
                cv2.imdecode(np.frombuffer(each or b"\0", np.uint8), cv2.IMREAD_COLOR) for each in pictures
            ]
            whole = [frame for frame in frames if frame is not None]
            if len(whole) < len(frames):
                raise UserError(
                    f"{self._path}: a picture between rows {first} and {end} cannot be read; copy it again"
                )
            rgb = [np.asarray(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB), np.uint8) for frame in whole]
            yield stacked(rgb, str(self._path)), np.ones(len(rgb), bool)

    @contextmanager
    def _damage_told(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, pa.ArrowException) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(
                f"{self._path}: cannot be read as a Lance table ({reason}); copy it again"
            ) from None


def _filled(begins: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    """For each row where its episode begins."""
    return np.repeat(begins, np.diff(begins, append=rows))
