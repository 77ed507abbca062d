"""Frames off a screen in real time, as they come: dropped and repeated ones included."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Grabber:
    """FFmpeg's x11grab on a display, in a thread of its own."""

    def __init__(self, display: str, size: tuple[int, int], fps: float) -> None:
        import av

        height, width = size
        options = {"video_size": f"{width}x{height}", "framerate": f"{fps:g}", "draw_mouse": "0"}
        self._container: Any = av.open(display, format="x11grab", options=options)
        self.frames: list[NDArray[np.uint8]] = []
        self.times: list[float] = []
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for frame in self._container.decode(video=0):
                self.times.append(float(frame.pts * frame.time_base))
                self.frames.append(frame.to_ndarray(format="rgb24"))
                if self._stop.is_set():
                    break
        except BaseException as error:  # the display went away
            self._error = error

    def stop(self) -> None:
        """May be called again."""
        self._stop.set()
        self._thread.join(10)
        self._container.close()
