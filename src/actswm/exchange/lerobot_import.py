"""A LeRobotDataset v3 folder, whoever wrote it, opened to be imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..data.layout import Column, DatasetSpec
from ..errors import UserError
from ..formats.video import NS, decode
from ..json_files import read_json
from . import lerobot_layout as layout
from .arrow import column_values, entries_of
from .importing import BLOCK, Episode, own_vocabulary, stacked
from .passport import kept_columns, spec_of_passport

_PICTURES = ("video", "image")


class LeRobotFolder:
    """An `Importable`. `camera`: which pictures to take, where there are several; `vocabulary`: what the numbers of an
    action are, where the folder was not exported here."""

    def __init__(self, folder: Path, camera: str | None = None, vocabulary: str | None = None) -> None:
        self._folder = folder
        self._info = _read_info(folder)
        self._features = self._info["features"]
        self._camera = self._choose(camera)
        self._columns = {
            name: _column(feature)
            for name, feature in self._features.items()
            if feature["dtype"] not in (*_PICTURES, "string") and name not in layout.ROW_FEATURES
        }
        self.spec = self._spec(vocabulary)
        names = ["episode_index", "length", *self._place("data"), *self._place(f"videos/{self._camera}")]
        if self._is_video:
            names.append(f"videos/{self._camera}/from_timestamp")
        tables = [_read(path, names) for path in sorted(folder.glob("meta/episodes/*/*.parquet"))]
        if not tables:
            raise UserError(f"{folder}: there are no files in meta/episodes; get the dataset again")
        self._episodes = sorted(pa.concat_tables(tables).to_pylist(), key=lambda row: row["episode_index"])
        self.num_frames = sum(row["length"] for row in self._episodes)
        self._last: tuple[Path, pa.Table] | None = None

    def episodes(self) -> Iterator[Episode]:
        for row in self._episodes:
            rows = self._rows(row)
            columns = {name: rows[name].combine_chunks() for name in rows.column_names}
            name = f"{self._folder}: episode {row['episode_index']}"
            yield Episode(
                name,
                column_values(
                    columns["action"], Column("float32", (self.spec.vocabulary.size,)), f"{name}: action"
                ),
                entries_of(columns["frame_valid"], name).ravel().astype(bool)
                if "frame_valid" in columns
                else np.ones(len(rows), bool),
                {
                    each: column_values(columns[each], column, f"{name}: {each}")
                    for each, column in self.spec.columns.items()
                },
                self._frames(row, len(rows)),
            )

    def _choose(self, camera: str | None) -> str:
        pictures = (name for name, feature in self._features.items() if feature["dtype"] in _PICTURES)
        cameras = [name for name in pictures if "/" not in name]
        if camera is None and len(cameras) == 1:
            return cameras[0]
        if camera is not None and camera in cameras:
            return camera
        if not cameras:
            raise UserError(f"{self._folder}: has no pictures; a world model needs some")
        what = f"has no camera {camera!r}" if camera else "has several cameras"
        raise UserError(f"{self._folder}: {what}; choose one: --camera {' or '.join(cameras)}")

    @property
    def _is_video(self) -> bool:
        return self._features[self._camera]["dtype"] == "video"

    def _spec(self, vocabulary: str | None) -> DatasetSpec:
        height, width = self._picture_size()
        passport = self._folder / layout.PASSPORT
        if passport.exists() and not vocabulary:
            try:
                return spec_of_passport(read_json(passport), str(passport), height, width)
            except ValueError as error:
                raise UserError(f"{passport}: is not valid JSON ({error})") from None
        action = self._columns.pop("action", None)
        if action is None:
            raise UserError(f"{self._folder}: has no feature 'action'")
        return DatasetSpec(
            own_vocabulary(vocabulary, self._control_names(), int(np.prod(action.shape)), str(self._folder)),
            height,
            width,
            float(self._info["fps"]),
            f"lerobot/{self._folder.resolve().name}",
            attributes={"lerobot": {key: self._info.get(key) for key in ("codebase_version", "robot_type")}},
            columns=kept_columns(self._columns),
        )

    def _picture_size(self) -> tuple[int, int]:
        """Older recorders put the channels first."""
        feature = self._features[self._camera]
        sides = feature["shape"]
        if len(sides) != 3 or 3 not in (sides[0], sides[2]):
            raise UserError(
                f"{self._folder}: {self._camera} has the shape {sides}, which is no colour picture's"
            )
        height, width = sides[:2] if sides[2] == 3 else sides[1:]
        return height, width

    def _control_names(self) -> list[str] | None:
        """A list, or a group's name with a list."""
        names = self._features["action"].get("names")
        if isinstance(names, dict) and len(names) == 1:
            (names,) = names.values()
        return [str(name) for name in names] if isinstance(names, list) else None

    def _place(self, of: str) -> list[str]:
        return [f"{of}/chunk_index", f"{of}/file_index"] if of == "data" or self._is_video else []

    def _rows(self, row: Mapping[str, Any]) -> pa.Table:
        """An episode's rows; a file is read once for all of its episodes."""
        path = self._file(layout.DATA_PATTERN, row, "data")
        if self._last is None or self._last[0] != path:
            wanted = ["episode_index", "frame_index", "action", *self.spec.columns]
            wanted += ["frame_valid"] if "frame_valid" in self._features else []
            self._last = path, _read(path, wanted)
        table = self._last[1]
        rows = table.filter(pc.equal(table["episode_index"], row["episode_index"]))
        if rows["frame_index"].to_pylist() != list(range(row["length"])):
            raise UserError(f"{path}: episode {row['episode_index']} is not whole; get the dataset again")
        return rows

    def _file(self, pattern: str, row: Mapping[str, Any], of: str) -> Path:
        place = {name: int(row[f"{of}/{name}"]) for name in ("chunk_index", "file_index")}
        path = self._folder / pattern.format(video_key=self._camera, **place)
        if not path.is_file():
            raise UserError(f"{path}: is missing; get the dataset again")
        return path

    def _frames(
        self, row: Mapping[str, Any], length: int
    ) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.bool_]]]:
        pictures = self._video(row, length) if self._is_video else self._images(row)
        frames, whole = [], []
        for frame, sound in pictures:
            frames.append(frame)
            whole.append(sound)
            if len(frames) == BLOCK:
                yield stacked(frames, str(self._folder)), np.array(whole)
                frames, whole = [], []
        if frames:
            yield stacked(frames, str(self._folder)), np.array(whole)

    def _video(self, row: Mapping[str, Any], length: int) -> Iterator[tuple[NDArray[np.uint8], bool]]:
        """The pictures at `from_timestamp` and after it, one every 1 / fps seconds, and whether each is whole."""
        of = f"videos/{self._camera}"
        path, begin = self._file(layout.VIDEO_PATTERN, row, of), float(row[f"{of}/from_timestamp"])
        due = 0
        for frame in decode(path, start_ns=round(begin * NS)):
            number = round((frame.pts_ns / NS - begin) * self._info["fps"])
            if number < due:
                continue
            if number > due:
                break
            yield frame.rgb(self.spec.height, self.spec.width), not frame.corrupt
            due += 1
            if due == length:
                return
        raise UserError(
            f"{path}: has no picture for frame {due} of episode {row['episode_index']}; get it again"
        )

    def _images(self, row: Mapping[str, Any]) -> Iterator[tuple[NDArray[np.uint8], bool]]:
        path = self._file(layout.DATA_PATTERN, row, "data")
        table = _read(path, [self._camera], [("episode_index", "=", row["episode_index"])])
        for image in table[self._camera].to_pylist():
            picture = cv2.imdecode(
                np.frombuffer((image or {}).get("bytes") or b"\0", np.uint8), cv2.IMREAD_COLOR
            )
            if picture is None:
                raise UserError(f"{path}: a picture of {self._camera} cannot be read; get the dataset again")
            yield np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), np.uint8), True


def _read_info(folder: Path) -> dict[str, Any]:
    path = folder / layout.INFO
    try:
        info = read_json(path)
        version, features, fps = info["codebase_version"], info["features"], float(info["fps"])
        sound = all(
            isinstance(feature["dtype"], str)
            and all(isinstance(side, int) and side > 0 for side in feature["shape"])
            for feature in features.values()
        )
        if not (isinstance(version, str) and sound and fps > 0):
            raise ValueError("a field has another type")
    except FileNotFoundError:
        raise UserError(f"{folder}: no LeRobotDataset: it has no {layout.INFO}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: does not describe a dataset ({error}); get it again") from None
    if not version.startswith("v3"):
        raise UserError(
            f"{path}: the dataset is of version {version}, not v3; convert it with "
            "python -m lerobot.datasets.v30.convert_dataset_v21_to_v30"
        )
    return info


def _column(feature: Mapping[str, Any]) -> Column:
    shape = tuple(feature["shape"])
    try:
        return Column(str(np.dtype(feature["dtype"])), () if shape == (1,) else shape)
    except TypeError:
        raise UserError(
            f"a feature of type {feature['dtype']!r} is not known; known are numbers and pictures"
        ) from None


def _read(path: Path, columns: list[str], filters: Any = None) -> pa.Table:
    with _damage_told(path):
        return pq.read_table(path, columns=columns, filters=filters, partitioning=None)


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException, KeyError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{path}: cannot be read as parquet ({reason}); get the dataset again") from None
