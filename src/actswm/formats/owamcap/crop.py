"""Cuts spans out of a recording as recordings of their own, for a person to look at."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from mcap.reader import make_reader

from ...atomic import appearing_whole
from ..keymap import MOUSE_BUTTONS
from ..video import MS, NS, VideoWriter, decode
from . import messages
from .log import MessageLog
from .recording import Kind, Recording, read_recording
from .timeline import held_spans

_NOMINAL_FPS = Fraction(60)


def crop_recording(path: Path, spans: Sequence[tuple[int, int]], folder: Path) -> list[Path]:
    """Write `<stem>-0001.{mcap,mkv}`... into `folder`, one per span (first and last video time, inclusive).

    Input messages are copied as they are; screen messages are made anew for the new video; a state message at the
    start says what is held, so that each piece stands alone.
    """
    recording = read_recording(path)
    folder.mkdir(parents=True, exist_ok=True)
    frames = decode(recording.video_path)
    frame = next(frames, None)
    written = []
    for number, (first_ns, last_ns) in enumerate(spans, 1):
        while frame is not None and frame.pts_ns < first_ns:
            frame = next(frames, None)
        if frame is None:
            break
        video = folder / f"{path.stem}-{number:04d}.mkv"
        partial = video.with_name(f".{video.name}.partial")
        times: list[int] = []
        height, width = frame.shape
        with VideoWriter(partial, height=height, width=width, fps=_NOMINAL_FPS, crf=16) as writer:
            while frame is not None and frame.pts_ns <= last_ns:
                if not times or frame.pts_ns > times[-1]:
                    writer.add(frame.rgb(height, width), (frame.pts_ns - first_ns) // MS * MS)
                    times.append(frame.pts_ns)
                frame = next(frames, None)
        partial.replace(video)
        written.append(_crop_log(recording, times, (height, width), video))
    return written


def _crop_log(recording: Recording, times: list[int], shape: tuple[int, int], video: Path) -> Path:
    """The MCAP beside a cropped video: the log from its first frame to the end of its last."""
    offset_ns = recording.offset_ns
    start_ns = times[0] + offset_ns
    end_ns = times[-1] + offset_ns + (times[-1] - times[-2] if len(times) > 1 else NS // 60)
    path = video.with_suffix(".mcap")
    with (
        recording.path.open("rb") as source,
        appearing_whole(path) as partial,
        partial.open("wb") as target,
    ):
        log = MessageLog(target, recording.key_map)
        size = [shape[1], shape[0]]
        for pts_ns in times:
            reference = {"uri": video.name, "pts_ns": (pts_ns - times[0]) // MS * MS}
            screen = {
                "utc_ns": pts_ns + offset_ns,
                "source_shape": size,
                "shape": size,
                "media_ref": reference,
            }
            log.write(messages.SCREEN, pts_ns + offset_ns, screen)
        keys, buttons = _held(recording, start_ns)
        log.write(messages.KEYBOARD_STATE, start_ns, {"buttons": keys})
        names = [MOUSE_BUTTONS[button] for button in buttons]
        log.write(messages.MOUSE_STATE, start_ns, {"x": 0, "y": 0, "buttons": names})
        for _, channel, message in make_reader(source).iter_messages(start_time=start_ns, end_time=end_ns):
            if channel.topic in messages.SCHEMAS and channel.topic != messages.SCREEN:
                log.write(channel.topic, message.log_time, message.data)
        log.finish()
    return path


def _held(recording: Recording, time_ns: int) -> tuple[list[int], list[int]]:
    """Keys and mouse buttons that are down just before `time_ns`; events at that time are copied themselves."""
    kinds = (
        (Kind.KEY_DOWN, Kind.KEY_UP, Kind.KEY_STATE),
        (Kind.BUTTON_DOWN, Kind.BUTTON_UP, Kind.BUTTON_STATE),
    )
    keys, buttons = (
        [code for code, start, end in held_spans(recording.inputs, *kind) if start < time_ns <= end]
        for kind in kinds
    )
    return keys, buttons
