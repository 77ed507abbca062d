"""Cut: one pass over a video. Leaves where scenes begin, how much each frame changed, hashes, and sample pictures."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ...atomic import write_whole, written_whole
from ...errors import UserError
from ...formats.video import decode
from .hashes import picture_hash
from .scenes import HEIGHT, WIDTH, CutFinder, changed
from .settings import CutRules
from .timeline import Timeline

SAMPLE_HEIGHT = 360
_MOTION_S = 0.25


@dataclass(frozen=True)
class Look:
    """Arrays have one entry for each decoded frame, but for the cuts."""

    pts: NDArray[np.int64]
    change: NDArray[np.float32]
    """Mean change of the luminance since the frame before."""
    moving: NDArray[np.float32]
    """Share of the picture that changes within the quarter of a second to which the frame belongs."""
    damaged: NDArray[np.bool_]
    """The decoder had to guess parts of the picture."""
    cuts: NDArray[np.int64]
    hashes: NDArray[np.uint64]

    def save(self, path: Path) -> None:
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **{name: getattr(self, name) for name in self.__dataclass_fields__})
        write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> Look:
        try:
            with np.load(path, allow_pickle=False) as told:
                return cls(*(told[name] for name in cls.__dataclass_fields__))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise UserError(f"{path}: cannot be read ({error}); remove it and run again") from None


def look(
    timeline: Timeline, rules: CutRules, sample_hz: float, samples: Path, progress: Callable[[float], None]
) -> Look:
    """Pictures are compared small; every 1 / `sample_hz` seconds one goes into the zip file `samples`."""
    finder, shrink = CutFinder(rules), Shrinker(timeline)
    pts, change, hashes = ([] for _ in range(3))
    moving: list[float] = []
    damaged: list[bool] = []
    tick = float(timeline.tick)
    sample_due = -1.0
    last: NDArray[Any] | None = None
    reference: NDArray[Any] | None = None
    reference_s = 0.0
    with (
        written_whole(samples) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive,
    ):
        for index, frame in enumerate(decode(Path(timeline.path))):
            now = (frame.picture.pts - timeline.first_pts) * tick
            bgr = shrink.small(frame.picture)
            luma = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
            finder.feed(index, bgr, luma)
            change.append(0.0 if last is None else float(np.mean(cv2.absdiff(luma, last))))
            if reference is None:
                reference, reference_s = luma, now
            elif now - reference_s >= _MOTION_S:
                moving += [changed(reference, luma)] * (index - len(moving))
                reference, reference_s = luma, now
            pts.append(frame.picture.pts)
            damaged.append(frame.corrupt)
            last = luma
            hashes.append(picture_hash(luma))
            if now >= sample_due:
                sample_due = now + 1 / sample_hz
                _store(archive, index, shrink.sample(frame.picture))
            if index % 100 == 0:
                progress(now)
    moving += [moving[-1] if moving else 1.0] * (len(pts) - len(moving))
    cuts = set(finder.finish())
    times = np.maximum.accumulate(np.array(pts, np.int64))  # a clock that jumps back stands still meanwhile
    cuts |= {int(i) + 1 for i in np.flatnonzero(np.diff(times) * tick > rules.hole)}
    return Look(
        times,
        np.array(change, np.float32),
        np.array(moving, np.float32),
        np.array(damaged, bool),
        np.array(sorted(cuts), np.int64),
        np.array(hashes, np.uint64),
    )


def read_samples(path: Path) -> Iterator[tuple[int, NDArray[Any]]]:
    """(frame, BGR picture) of each sample, in order."""
    with _samples_of(path) as archive:
        for name in archive.namelist():
            yield int(name.split(".")[0]), _picture(archive, name)


def sample_near(path: Path, frame: int) -> NDArray[Any] | None:
    """The BGR sample nearest to a frame, if there is any."""
    with _samples_of(path) as archive:
        names = archive.namelist()
        if not names:
            return None
        return _picture(archive, min(names, key=lambda one: abs(int(one.split(".")[0]) - frame)))


@contextmanager
def _samples_of(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, cv2.error) as error:
        raise UserError(f"{path}: cannot be read ({error}); remove it and run again") from None


def _picture(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    picture: Any = cv2.imdecode(np.frombuffer(archive.read(name), np.uint8), cv2.IMREAD_COLOR)
    if picture is None:
        raise ValueError(f"{name} is no picture")
    return picture


class Shrinker:
    """Pictures of a video without its bars, at the sizes that we look at."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def small(self, picture: Any) -> NDArray[Any]:
        return self._shrunk(picture, HEIGHT, WIDTH)

    def sample(self, picture: Any) -> NDArray[Any]:
        top, bottom, left, right = self._timeline.crop
        width = round(SAMPLE_HEIGHT * (right - left) / (bottom - top) / 2) * 2
        return self._shrunk(picture, SAMPLE_HEIGHT, width)

    def _shrunk(self, picture: Any, height: int, width: int) -> NDArray[Any]:
        """The whole picture is scaled so that the part inside the bars has the size asked for."""
        top, bottom, left, right = self._timeline.crop
        full_height, full_width = self._timeline.height, self._timeline.width
        if (picture.height, picture.width) != (full_height, full_width):  # changed in the middle
            top, bottom, left, right = 0, picture.height, 0, picture.width
            full_height, full_width = picture.height, picture.width
        scale_y, scale_x = height / (bottom - top), width / (right - left)
        scaled = picture.reformat(
            width=round(full_width * scale_x),
            height=round(full_height * scale_y),
            format="bgr24",
            interpolation="AREA" if scale_y < 1 else "BILINEAR",
        ).to_ndarray()
        y, x = round(top * scale_y), round(left * scale_x)
        y, x = min(y, scaled.shape[0] - height), min(x, scaled.shape[1] - width)
        return np.ascontiguousarray(scaled[y : y + height, x : x + width])


def _store(archive: zipfile.ZipFile, index: int, bgr: NDArray[Any]) -> None:
    _, jpeg = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, 88])
    archive.writestr(zipfile.ZipInfo(f"{index:09}.jpg"), jpeg.tobytes())
