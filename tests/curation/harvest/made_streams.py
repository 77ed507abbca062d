"""Small videos whose every frame carries its number, so that a test can tell which one it sees."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

BITS = 12


def numbered_frame(index: int, scene: int, height: int, width: int) -> np.ndarray:
    """A textured picture of a scene that drifts, with the index as small black and white blocks at the lower edge."""
    rng = np.random.default_rng(1000 + scene)
    texture = cv2.resize(
        rng.integers(30, 226, (6, 16, 3), np.uint8), (width * 2, height), interpolation=cv2.INTER_CUBIC
    )
    shift = round(index * width / 320) % width
    picture = texture[:, shift : shift + width].copy()
    block = width // 40
    top = height - 2 * block
    for bit in range(BITS):
        value = 255 if index >> bit & 1 else 0
        picture[top : top + block, (bit + 1) * block : (bit + 2) * block] = value
    return picture


def number_of(rgb: np.ndarray) -> int:
    height, width = rgb.shape[:2]
    block, index = width / 40, 0
    y = round(height - 1.5 * block)
    for bit in range(BITS):
        x = round((bit + 1.5) * block)
        if rgb[y - 1 : y + 1, x - 1 : x + 1].mean() > 127:
            index |= 1 << bit
    return index


def write_video(
    path: Path,
    frames: int,
    *,
    fps: int = 30,
    scene_frames: int = 90,
    first_scene: int = 0,
    size: tuple[int, int] = (180, 320),
    bars: tuple[int, int] = (0, 0),
    sound: bool = True,
    pts: list[int] | None = None,
    mark: tuple[int, int] | None = None,
) -> Path:
    """Scenes of `scene_frames`; `pts` in frames of `fps` in place of 0, 1, 2...

    `mark`: where a white one of 16 x 40 pixels lies."""
    height, width = size
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=fps)
        stream.height, stream.width, stream.pix_fmt = height + 2 * bars[0], width + 2 * bars[1], "yuv420p"
        stream.codec_context.time_base = Fraction(1, fps)
        stream.options = {"crf": "14", "preset": "ultrafast", "threads": "1", "bf": "2"}
        stream.codec_context.gop_size = 24
        audio: Any = container.add_stream("aac", rate=48000) if sound else None
        if audio is not None:
            audio.layout = "mono"
        for index in range(frames):
            picture = numbered_frame(index, first_scene + index // scene_frames, height, width)
            picture = cv2.copyMakeBorder(picture, bars[0], bars[0], bars[1], bars[1], cv2.BORDER_CONSTANT)
            if mark is not None:
                picture[mark[0] : mark[0] + 16, mark[1] : mark[1] + 40] = 255
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = (pts[index] if pts else index), Fraction(1, fps)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        if audio is not None:
            for first in range(0, frames * 48000 // fps, 1024):
                tone = av.AudioFrame.from_ndarray(
                    np.zeros((1, 1024), np.float32), format="flt", layout="mono"
                )
                tone.sample_rate, tone.pts, tone.time_base = 48000, first, Fraction(1, 48000)
                container.mux(audio.encode(tone))
            container.mux(audio.encode(None))
    return path


PLAIN = """
name: plain
title: Plain
fps: 15
height: 90
width: 160
cut: {shortest: 1.0, longest: 10.0}
filter: {kind: negative, most_static: null, sample_hz: 2.0}
"""
"""A domain without words or packs: fast, and it keeps whatever shows something."""
