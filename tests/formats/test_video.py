"""Videos that were damaged: a picture that had to be guessed is never passed off as sound."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from actswm.formats.video import decode

from ..curation.harvest.made_streams import numbered_frame

FRAMES, GOP, HEIGHT, WIDTH = 100, 24, 90, 160
TS = 188
"""Bytes of a transport stream's packet."""
SUFFIXES = (".mkv", ".mp4", ".ts")


@pytest.fixture(scope="module", params=SUFFIXES)
def video(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("video") / f"video{request.param}"
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("mpeg4", rate=30)
        stream.height, stream.width, stream.pix_fmt = HEIGHT, WIDTH, "yuv420p"
        stream.codec_context.time_base, stream.codec_context.gop_size = Fraction(1, 30), GOP
        stream.options = {"bf": "2", "b": "900000"}
        for index in range(FRAMES):
            frame = av.VideoFrame.from_ndarray(numbered_frame(4 * index, 0, HEIGHT, WIDTH), format="rgb24")
            frame.pts, frame.time_base = index, Fraction(1, 30)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def shown(path: Path) -> dict[int, tuple[np.ndarray, bool]]:
    return {frame.pts_ns: (frame.rgb(HEIGHT, WIDTH), frame.corrupt) for frame in decode(path)}


def test_what_was_guessed_is_marked(video: Path, tmp_path: Path) -> None:
    """Half of a packet is overwritten, or a part of a transport stream is lost; around 24 that is beside a key frame,
    which other pictures overtake.
    """
    whole, guessed = shown(video), 0
    assert len(whole) == FRAMES and not any(corrupt for _, corrupt in whole.values())
    with av.open(str(video)) as container:
        packets = [(one.pos, one.size) for one in container.demux(video=0) if one.size]
    hurt = tmp_path / video.name
    for number in (*range(20, 29), 40, 60):
        place, size = packets[number]
        data = bytearray(video.read_bytes())
        if video.suffix == ".ts":
            del data[place + TS : place + 2 * TS]
        else:
            data[place + size // 2 : place + size] = random.Random(number).randbytes(size - size // 2)
        hurt.write_bytes(data)
        left = shown(hurt)
        marked = {pts for pts, (_, corrupt) in left.items() if corrupt}
        wrong = {pts for pts, (picture, _) in left.items() if differs(picture, whole[pts][0])}
        assert wrong <= marked, number
        # Damage ends with the next key frame; where that itself was hit, with the one after it.
        assert len(marked) <= 2 * GOP + 4
        guessed += len(wrong)
    assert guessed > GOP


def differs(left: np.ndarray, right: np.ndarray) -> bool:
    return bool((np.abs(left.astype(int) - right).max(2) > 24).mean() > 0.01)
