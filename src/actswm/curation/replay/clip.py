"""`full_round.mp4`: mute, at a fixed size and frame rate, the same bytes for the same frames."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...atomic import written_whole
from ...errors import UserError


def write_clip(path: Path, frames: NDArray[np.uint8], fps: float, crf: int = 16) -> None:
    """Write (n, h, w, 3) RGB frames; the file appears when it is complete."""
    import av

    _, height, width, _ = frames.shape
    if height % 2 or width % 2:
        raise UserError(f"a clip's height and width must be even, not {height}x{width} (--size)")
    rate = Fraction(fps).limit_denominator(1001)
    with written_whole(path) as temporary, av.open(str(temporary), "w", format="mp4") as container:
        stream: Any = container.add_stream("libx264", rate=rate)
        stream.height, stream.width, stream.pix_fmt = height, width, "yuv420p"
        stream.time_base = stream.codec_context.time_base = 1 / rate
        # With several threads the bytes depend on the machine, and with x264's macroblock tree, on small frames,
        # on what was in memory before.
        steady = {"threads": "1", "bf": "0", "x264-params": "mbtree=0:weightp=0"}
        stream.options = {"crf": str(crf), "preset": "veryfast", **steady}
        for index, rgb in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(rgb, format="rgb24")
            frame.pts, frame.time_base = index, 1 / rate
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
