"""OWAMcap recordings made message by message, so that a test can trip exactly one rule."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from actswm.formats.owamcap import messages
from actswm.formats.owamcap.log import MessageLog

START = 1_700_000_000_000_000_000
MS = 1_000_000
INTERVAL_MS = 20


def moving_frames(count: int, height: int = 64, width: int = 64) -> np.ndarray:
    """Smooth moving colour, as a rendered game has: neither flat nor noise."""
    y, x = np.mgrid[0:height, 0:width]
    phase = np.arange(count)[:, None, None]
    channels = [np.sin((x + 3 * phase) / 17), np.cos((y - 2 * phase) / 13), np.sin((x + y + phase) / 29)]
    return np.stack([(127 + 120 * channel) for channel in channels], -1).astype(np.uint8)


def write_video(
    path: Path, pts_ms: list[int], frames: np.ndarray | None = None, key_frames: int = 250
) -> None:
    """A video with any timestamps, even repeated or backward ones (only decoding times must grow)."""
    frames = moving_frames(len(pts_ms)) if frames is None else frames
    with av.open(str(path), "w", format="mp4" if path.suffix == ".mp4" else "matroska") as container:
        stream: Any = container.add_stream("libx264", rate=50)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "yuv444p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        stream.codec_context.gop_size = key_frames
        stream.options = {"bf": "0", "preset": "ultrafast", "tune": "zerolatency", "crf": "10"}
        packets = []
        for index, frame in enumerate(frames):
            picture = av.VideoFrame.from_ndarray(frame, format="rgb24")
            picture.pts, picture.time_base = index, Fraction(1, 1000)
            packets += stream.encode(picture)
        packets += stream.encode(None)
        for index, packet in enumerate(packets):
            packet.dts, packet.pts = index - len(packets), pts_ms[index]
            packet.time_base = Fraction(1, 1000)
            container.mux(packet)


class MadeRecording:
    """`<name>.mcap` + `<name>.mkv`: frames every 20 ms and a keyboard and mouse state every 500 ms by default."""

    def __init__(self, folder: Path, name: str = "run", frames: int = 100) -> None:
        self.path = folder / f"{name}.mcap"
        self.pts_ms = [index * INTERVAL_MS for index in range(frames)]
        self.screens: list[tuple[int, dict[str, Any]]] | None = None
        self.inputs: list[tuple[int, str, Any]] = []
        self.states = True
        self.pixels: np.ndarray | None = None
        self.key_frames = 250

    def at(self, ms: int, topic: str, message: Any) -> MadeRecording:
        """A message logged `ms` after the first frame; bytes are written as they are."""
        self.inputs.append((ms, topic, message))
        return self

    def key(self, ms: int, vk: int, down: bool) -> MadeRecording:
        return self.at(ms, messages.KEYBOARD, {"event_type": "press" if down else "release", "vk": vk})

    def write(self) -> Path:
        write_video(self.path.with_suffix(".mkv"), self.pts_ms, self.pixels, self.key_frames)
        rows = list(self.inputs)
        if self.states:
            for ms in range(0, max(self.pts_ms) + 1, 500):
                held = self._held(ms)
                rows.append((ms, messages.KEYBOARD_STATE, {"buttons": held}))
                rows.append((ms, messages.MOUSE_STATE, {"x": 0, "y": 0, "buttons": []}))
        video = self.path.with_suffix(".mkv").name
        screens = self.screens or [
            (pts, {"media_ref": {"uri": video, "pts_ns": pts * MS}}) for pts in sorted(set(self.pts_ms))
        ]
        rows += [(ms, messages.SCREEN, message) for ms, message in screens]
        rows.sort(key=lambda row: row[0])
        write_mcap(self.path, rows)
        return self.path

    def _held(self, ms: int) -> list[int]:
        held: set[int] = set()
        for when, topic, message in self.inputs:
            if topic == messages.KEYBOARD and when <= ms and isinstance(message, dict):
                (held.add if message["event_type"] == "press" else held.discard)(message["vk"])
        return sorted(held)


def write_mcap(path: Path, rows: list[tuple[int, str, Any]]) -> None:
    """Messages in the order given: (ms after the start, topic, message)."""
    with path.open("wb") as file:
        log = MessageLog(file)
        for ms, topic, message in rows:
            log.write(topic, START + ms * MS, message)
        log.finish()
