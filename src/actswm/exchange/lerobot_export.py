"""A dataset as a LeRobotDataset v3 folder, which the `lerobot` package opens."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..atomic import folder_written_whole
from ..data.agreement import spec_of
from ..data.dataset import Dataset
from ..data.layout import DatasetSpec
from ..formats.video import VideoWriter
from ..json_files import write_json
from . import lerobot_layout as layout
from .arrow import arrow_array
from .passport import passport_of

_BLOCK = 256
"""Frames in memory at a time."""
_KEY_FRAMES = 2
"""One of so many frames can be jumped to: windows begin anywhere, so lerobot's own recorder writes as many."""
_SAMPLE = 100
"""Frames from which the statistics of the pictures are taken."""
_QUANTILES = (0.01, 0.1, 0.5, 0.9, 0.99)


def export_lerobot(data: Dataset, out: Path, progress: Callable[[int], None] = lambda frames: None) -> None:
    """Write `out`, a folder that is not there yet; it appears when it is complete.

    An extra column that is called like one of the format's own is left out.
    """
    spec = spec_of(data)
    spec = replace(
        spec, columns={name: each for name, each in spec.columns.items() if name not in layout.ROW_FEATURES}
    )
    features = _features(spec)
    with folder_written_whole(out) as folder:
        with _Files(folder, spec, features) as files:
            for episode in range(data.num_episodes):
                files.add(data, episode)
                progress(int(data.ep_offset[episode] + data.ep_len[episode]))
        path = folder / layout.EPISODES_PATTERN.format(chunk_index=0, file_index=0)
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(files.episodes), path)
        _write_task(folder / layout.TASKS, spec.source)
        write_json(folder / layout.INFO, _info(data, spec, features))
        write_json(folder / layout.STATS, _statistics(data, features))
        write_json(folder / layout.PASSPORT, passport_of(spec))


def _features(spec: DatasetSpec) -> dict[str, dict[str, Any]]:
    size = spec.vocabulary.size
    features: dict[str, dict[str, Any]] = {
        layout.CAMERA: {
            "dtype": "video",
            "shape": [spec.height, spec.width, 3],
            "names": ["height", "width", "channels"],
            "info": {
                "video.height": spec.height,
                "video.width": spec.width,
                "video.codec": "h264",
                "video.pix_fmt": "yuv444p",
                "video.is_depth_map": False,
                "video.fps": _rate(spec),
                "video.channels": 3,
                "has_audio": False,
            },
        },
        "action": {"dtype": "float32", "shape": [size], "names": list(spec.vocabulary.names)},
        "frame_valid": {"dtype": "bool", "shape": [1], "names": None},
    }
    for name, column in spec.columns.items():
        dtype = "string" if np.dtype(column.dtype).kind == "S" else column.dtype
        features[name] = {"dtype": dtype, "shape": [int(np.prod(column.shape))], "names": None}
    for name, dtype in layout.ROW_FEATURES.items():
        features[name] = {"dtype": dtype, "shape": [1], "names": None}
    return features


def _rate(spec: DatasetSpec) -> float:
    return int(spec.fps) if spec.fps == int(spec.fps) else spec.fps


class _Files:
    """The files that episodes are appended to; a new pair when one of the last pair is large."""

    def __init__(self, folder: Path, spec: DatasetSpec, features: dict[str, dict[str, Any]]) -> None:
        self.episodes: list[dict[str, Any]] = []
        self._folder, self._spec, self._features = folder, spec, features
        self._fps = Fraction(spec.fps).limit_denominator(10_000)
        self._number = -1
        self._open = ExitStack()

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, *failure: Any) -> None:
        self._open.close()

    def _next(self) -> None:
        self._open.close()
        self._number += 1
        chunk, file = divmod(self._number, layout.CHUNK_FILES)
        self._place = {"chunk_index": chunk, "file_index": file}
        data = self._folder / layout.DATA_PATTERN.format(**self._place)
        video = self._folder / layout.VIDEO_PATTERN.format(video_key=layout.CAMERA, **self._place)
        self._limits = {data: layout.DATA_MB, video: layout.VIDEO_MB}
        for path in self._limits:
            path.parent.mkdir(parents=True, exist_ok=True)
        size = {"height": self._spec.height, "width": self._spec.width}
        self._video = self._open.enter_context(VideoWriter(video, fps=self._fps, gop=_KEY_FRAMES, **size))
        self._data: pq.ParquetWriter | None = None
        self._data_path = data
        self._frames = 0

    def _is_large(self) -> bool:
        """A video is not on disk before the encoder has seen some frames."""
        return any(path.exists() and path.stat().st_size > mb * 2**20 for path, mb in self._limits.items())

    def add(self, data: Dataset, episode: int) -> None:
        start, length = int(data.ep_offset[episode]), int(data.ep_len[episode])
        if self._number < 0 or self._is_large():
            self._next()
        table = self._table(data, episode, start, length)
        if self._data is None:
            self._data = self._open.enter_context(pq.ParquetWriter(self._data_path, table.schema))
        self._data.write_table(table)
        for first in range(start, start + length, _BLOCK):
            for frame in data.frames(slice(first, min(first + _BLOCK, start + length))):
                self._video.add_at(frame, self._frames)
                self._frames += 1
        until = self._frames / self._fps
        self.episodes.append(
            {
                "episode_index": episode,
                "tasks": [self._spec.source],
                "length": length,
                "dataset_from_index": start,
                "dataset_to_index": start + length,
                **{f"data/{name}": value for name, value in self._place.items()},
                **{f"videos/{layout.CAMERA}/{name}": value for name, value in self._place.items()},
                f"videos/{layout.CAMERA}/from_timestamp": float(until - length / self._fps),
                f"videos/{layout.CAMERA}/to_timestamp": float(until),
                "meta/episodes/chunk_index": 0,
                "meta/episodes/file_index": 0,
            }
        )

    def _table(self, data: Dataset, episode: int, start: int, length: int) -> pa.Table:
        rows = slice(start, start + length)
        index = np.arange(length)
        own: dict[str, NDArray[Any]] = {
            "timestamp": (index / self._spec.fps).astype(np.float32),
            "frame_index": index,
            "episode_index": np.full(length, episode),
            "index": start + index,
            "task_index": np.zeros(length, np.int64),
        }
        arrays = {}
        for name, feature in self._features.items():
            if feature["dtype"] != "video":
                values = own[name] if name in own else data.column(name, rows)
                values = values.astype(bool) if name == "frame_valid" else values
                entries = feature["shape"][0]
                arrays[name] = arrow_array(values, entries if entries > 1 else 0)
        return pa.table(arrays)


def _write_task(path: Path, task: str) -> None:
    """A table whose index, as pandas reads it, is the task's text."""
    index = {
        "name": None,
        "field_name": "__index_level_0__",
        "pandas_type": "unicode",
        "numpy_type": "object",
    }
    number = {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64"}
    columns = [{**column, "metadata": None} for column in (number, index)]
    told = {
        "index_columns": ["__index_level_0__"],
        "column_indexes": [],
        "columns": columns,
        "pandas_version": "2.0.0",
    }
    table = pa.table({"task_index": [0], "__index_level_0__": [task]})
    pq.write_table(table.replace_schema_metadata({"pandas": json.dumps(told)}), path)


def _info(data: Dataset, spec: DatasetSpec, features: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "codebase_version": layout.VERSION,
        "robot_type": spec.source,
        "total_episodes": data.num_episodes,
        "total_frames": data.num_frames,
        "total_tasks": 1,
        "chunks_size": layout.CHUNK_FILES,
        "data_files_size_in_mb": layout.DATA_MB,
        "video_files_size_in_mb": layout.VIDEO_MB,
        "fps": _rate(spec),
        "splits": {"train": f"0:{data.num_episodes}"},
        "data_path": layout.DATA_PATTERN,
        "video_path": layout.VIDEO_PATTERN,
        "features": features,
    }


def _statistics(data: Dataset, features: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What policies normalise by: of pictures (of a sample, from 0 to 1) by channel, of numbers by entry."""
    sample = np.linspace(0, data.num_frames - 1, min(_SAMPLE, data.num_frames)).astype(int)
    pictures = data.frames(np.unique(sample)).reshape(-1, 3) / 255
    found = {layout.CAMERA: _statistics_of(pictures, shape=(3, 1, 1))}
    for name, feature in features.items():
        if name not in layout.ROW_FEATURES and feature["dtype"] not in ("video", "string"):
            values = data.column(name).reshape(data.num_frames, -1)
            if np.isfinite(
                values
            ).all():  # a pose of which an engine tells only a part is nothing to normalise by
                found[name] = _statistics_of(values, (feature["shape"][0],))
    return found


def _statistics_of(values: NDArray[Any], shape: tuple[int, ...]) -> dict[str, Any]:
    numbers = values.astype(np.float64)
    named = {"min": numbers.min(0), "max": numbers.max(0), "mean": numbers.mean(0), "std": numbers.std(0)}
    for quantile, value in zip(_QUANTILES, np.quantile(numbers, _QUANTILES, axis=0)):
        named[f"q{round(100 * quantile):02d}"] = value
    return {name: value.reshape(shape).tolist() for name, value in named.items()} | {"count": [len(numbers)]}
