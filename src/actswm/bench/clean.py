"""Cleaning against bare decoding of the same video, and memory against the length of a recording."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import av
import numpy as np

from ..curation.domains import domain_of
from ..curation.run import RunOptions, clean
from ..curation.settings import CleanSettings, JudgeKind
from ..curation.sources import Item
from ..formats.owamcap import messages
from ..formats.owamcap.log import MessageLog
from ..formats.video import MS, NS
from .memory import peak_mib

_FPS = 50
_LOOP_S = 4
_START_NS = 1_700_000_000 * NS


@dataclass(frozen=True)
class CleanBench:
    """Ratios of frames per second between runs that follow each other; the median over the rounds."""

    judge: JudgeKind
    """The default judge (`embedded`: rules and OCR), or `rules` where OCR is not installed."""
    clean_over_decode: float
    """The whole command with that judge, over PyAV decoding and resizing."""
    clean_over_decode_with_rules: float
    clean_over_decode_without_judge: float
    clean_over_decode_cpu: float
    """The first ratio in frames per second of processor time, which other programs do not disturb."""
    decode_fps: float
    clean_fps: float
    frames: int
    height: int
    width: int
    rss_growth_mib: float
    """Peak memory of cleaning ten minutes less that of one minute, 1000 mouse messages a second in both."""
    rss_one_minute_mib: float
    rss_ten_minutes_mib: float


Rate = tuple[float, float]
"""Frames per second, and per second of processor time."""


def bench_clean(
    seconds: int = 12,
    repeats: int = 5,
    shape: tuple[int, int] = (720, 1280),
    lengths_s: tuple[int, int] = (60, 600),
    progress: Callable[[str], None] = lambda what: None,
) -> CleanBench:
    """Throughput on `seconds` of video of `shape`; memory on small videos of the two lengths."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        judge: JudgeKind = "embedded" if find_spec("rapidocr") else "rules"
        progress(f"making a {shape[0]}p recording")
        path = _make_recording(folder / "throughput.mcap", *shape, seconds)
        rounds = []
        for number in range(1, repeats + 1):
            progress(f"decoding and cleaning, round {number} of {repeats}")
            rounds.append(_round(path, folder / f"round{number}", dict.fromkeys((judge, "rules", "none"))))
        peaks = []
        for length_s in lengths_s:
            progress(f"cleaning {length_s} s for its memory")
            long = _make_recording(folder / f"long{length_s}.mcap", 180, 320, length_s, mouse_hz=1000)
            peaks.append(peak_mib(_clean, long, folder / f"long{length_s}.h5", judge))

    def over_decode(name: str, clock: int = 0) -> float:
        return float(np.median([one[name][clock] / one["decode"][clock] for one in rounds]))

    return CleanBench(
        judge,
        over_decode(judge),
        over_decode("rules"),
        over_decode("none"),
        over_decode(judge, clock=1),
        float(np.median([one["decode"][0] for one in rounds])),
        float(np.median([one[judge][0] for one in rounds])),
        seconds * _FPS,
        *shape,
        peaks[1] - peaks[0],
        *peaks,
    )


def _round(path: Path, folder: Path, judges: Iterable[JudgeKind]) -> dict[str, Rate]:
    """Clean once with each judge, decoding before and after each: both see the same load of the machine."""
    folder.mkdir()
    decode = partial(_decode_and_resize, path.with_suffix(".mkv"))
    decodings = [_rate(decode)]
    rates: dict[str, Rate] = {}
    for judge in judges:
        rates[judge] = _rate(partial(_clean, path, folder / f"{judge}.h5", judge))
        decodings.append(_rate(decode))
    rates["decode"] = (fmean(wall for wall, _ in decodings), fmean(cpu for _, cpu in decodings))
    return rates


def _rate(work: Callable[[], int]) -> Rate:
    wall, processor = time.perf_counter(), time.process_time()
    count = work()
    return count / (time.perf_counter() - wall), count / (time.process_time() - processor)


def _decode_and_resize(video: Path) -> int:
    count = 0
    with av.open(str(video)) as container:
        container.streams.video[0].thread_type = "AUTO"
        for frame in container.decode(video=0):
            frame.reformat(width=128, height=128, format="rgb24", interpolation="AREA").to_ndarray()
            count += 1
    return count


def _clean(path: Path, out: Path, judge: JudgeKind) -> int:
    settings = CleanSettings(domain_of("cs2"), judge=judge)
    report = clean([Item("owamcap", path)], out, settings, RunOptions())
    if report.failures or report.kept != report.frames_in:
        raise RuntimeError(f"the made recording was not kept whole: {report.summary()}")
    return report.kept


def _make_recording(path: Path, height: int, width: int, seconds: int, mouse_hz: int = 125) -> Path:
    """A recording of moving textured frames: a few seconds encoded once, their packets repeated."""
    _make_video(path.with_suffix(".mkv"), height, width, seconds)
    with path.open("wb") as file:
        log = MessageLog(file)
        for second in range(seconds):
            start_ns = _START_NS + second * NS
            log.write(messages.KEYBOARD_STATE, start_ns, {"buttons": [0x57]})
            for frame in range(_FPS):
                reference = {
                    "uri": path.with_suffix(".mkv").name,
                    "pts_ns": second * NS + frame * (NS // _FPS),
                }
                log.write(messages.SCREEN, start_ns + frame * (NS // _FPS), {"media_ref": reference})
            for event in range(mouse_hz):
                motion = {"last_x": event % 7 - 3, "last_y": 1, "us_flags": 0, "button_flags": 0}
                log.write(messages.RAW_MOUSE, start_ns + event * (NS // mouse_hz), motion)
        log.finish()
    return path


def _make_video(path: Path, height: int, width: int, seconds: int) -> None:
    random = np.random.default_rng(0)
    texture = random.integers(0, 256, (height // 8 + 64, width // 8 + 256, 3), np.uint8)
    texture = texture.repeat(8, 0).repeat(8, 1)
    tick = Fraction(1, 1000)
    with av.open(str(path), "w", format="matroska") as container:
        stream: Any = container.add_stream("libx264", rate=_FPS)
        stream.height, stream.width, stream.pix_fmt = height, width, "yuv420p"
        stream.time_base = stream.codec_context.time_base = tick
        stream.codec_context.gop_size = _FPS
        stream.options = {"preset": "veryfast", "bf": "0", "crf": "23"}
        packets = []
        for index in range(_LOOP_S * _FPS):
            view = texture[index : index + height, 3 * index : 3 * index + width]
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(view), format="rgb24")
            frame.pts, frame.time_base = index * NS // _FPS // MS, tick
            packets += stream.encode(frame)
        packets += stream.encode(None)
        encoded = [(bytes(packet), packet.is_keyframe) for packet in packets]
        for index in range(seconds * _FPS):
            data, keyframe = encoded[index % len(encoded)]
            packet = av.Packet(data)
            packet.pts = packet.dts = index * NS // _FPS // MS
            packet.time_base, packet.stream, packet.is_keyframe = tick, stream, keyframe
            container.mux(packet)
