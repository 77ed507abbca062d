"""Annotation by inverse dynamics against bare decoding of the same video at 64 px."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import torch

from ..formats.video import MS, VideoWriter
from ..recovery.annotation import annotate
from ..recovery.idm_annotation import IdmJob
from ..recovery.motion_idm import MotionIdm, MotionIdmConfig
from ..recovery.video_source import VideoSource

_STEP_MS = 40


@dataclass(frozen=True)
class AnnotateBench:
    """Frames per second of processor time over those of decoding and resizing; medians over the rounds, one thread.

    The weights are random: what they are worth does not change what they cost. Everything that `annotate --idm` does
    is in it, the file too.
    """

    annotate_over_decode: float
    annotate_over_decode_wall: float
    decode_fps: float
    annotate_fps: float
    frames: int
    height: int
    width: int


def bench_annotate(frames: int = 2000, rounds: int = 3, shape: tuple[int, int] = (64, 64)) -> AnnotateBench:
    """Both take turns on one made video of `shape`."""
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        torch.manual_seed(0)
        model = MotionIdm(MotionIdmConfig()).eval()
        model.save(folder / "idm", {})
        video = _make_video(folder / "video.mkv", frames, shape)
        job = IdmJob(folder / "idm", force=True, threads=1)

        def label(number: int) -> None:
            report = annotate([video], folder / f"{number}.h5", job)
            if report.failures or report.annotated[0].frames != frames:
                raise RuntimeError(f"the made video was not annotated whole: {report}")

        label(-1)  # what is loaded once, is loaded
        times = []
        for number in range(rounds):
            decoding = _seconds(lambda: _decode(video, model.config.image_size))
            times.append((decoding, _seconds(lambda number=number: label(number))))  # type: ignore[misc]
    spent = np.array(times)  # (rounds, decode or annotate, wall or processor)
    ratio = np.median(spent[:, 0] / spent[:, 1], 0)
    fps = frames / np.median(spent[:, :, 1], 0)
    return AnnotateBench(float(ratio[1]), float(ratio[0]), float(fps[0]), float(fps[1]), frames, *shape)


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def _decode(video: Path, size: int) -> int:
    source = VideoSource.open(video)
    return sum(1 for _ in source.read(size, source.fps))


def _make_video(path: Path, frames: int, shape: tuple[int, int]) -> Path:
    """A window that wanders over a large picture."""
    height, width = shape
    noise = np.random.default_rng(0).integers(0, 256, (height + 256, width + 256, 3), dtype=np.uint8)
    smooth = cv2.GaussianBlur(noise, (0, 0), 2.0).astype(np.float32)
    world = np.clip((smooth - 127) * 5 + 127, 0, 255).astype(np.uint8)
    with VideoWriter(path, height=height, width=width, fps=Fraction(1000, _STEP_MS)) as writer:
        for number in range(frames):
            y, x = (int(128 + 120 * np.sin(number / pace)) for pace in (37, 53))
            writer.add(world[y : y + height, x : x + width], number * _STEP_MS * MS)
    return path
