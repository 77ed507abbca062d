"""Stage 1: drop what cannot be trusted, project inputs onto controls, split at gaps (Appendix F)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..formats.keymap import KeyMap
from ..formats.owamcap import FrameSpans, InputLog, Kind, Recording, actions_of_frames
from ..formats.video import MS, NS
from .frames import CutRules, Drop, FrameTable, segmented


@dataclass(frozen=True)
class PrefilterRules:
    """Limits of stage 1, in nanoseconds."""

    silence_ns: int = 2 * NS
    """Longest stretch without any input or state message; a held key or a resting player is data."""
    death_ns: int = 5 * NS
    """Removed after each death."""
    clock_ns: int = 2 * NS
    """Largest difference between the log's and the video's clock; sparse real clips jitter up to a second."""
    resync_ns: int = 2 * NS
    """After an unreadable message the device is distrusted until its next state message, at most this long."""


def prefilter(
    recording: Recording,
    pts_ns: NDArray[np.int64],
    key_map: KeyMap,
    rules: PrefilterRules | None = None,
    cuts: CutRules | None = None,
) -> FrameTable:
    """Judge each frame of the video (times `pts_ns`, in the order shown) by the recording's input log."""
    rules, cuts = rules or PrefilterRules(), cuts or CutRules()
    _require_whole_video(recording, pts_ns, cuts)
    drop = np.zeros(len(pts_ns), np.uint8)
    action = np.zeros((len(pts_ns), key_map.vocabulary.size), np.float32)

    before = np.maximum.accumulate(np.concatenate(([np.iinfo(np.int64).min], pts_ns[:-1])))
    drop[pts_ns < before] = Drop.TIMESTAMP_BACKWARDS
    drop[pts_ns == before] = Drop.TIMESTAMP_DUPLICATE
    rows = np.flatnonzero(drop == Drop.KEPT)
    spans = FrameSpans.of_frames(pts_ns[rows] + recording.offset_ns, cuts.gap_ns)
    log = recording.inputs
    action[rows] = actions_of_frames(log, spans, key_map)

    reason = np.zeros(len(rows), np.uint8)
    _mark(reason, _clock_jumps(recording, pts_ns[rows], rules), Drop.TIMESTAMP_JUMP)
    for start_ns, end_ns in log.backwards:
        _mark(reason, spans.touching(start_ns, end_ns), Drop.TIMESTAMP_BACKWARDS)
    devices = (
        (Kind.KEYBOARD_UNREADABLE, Kind.KEY_STATE, Drop.KEYBOARD_UNREADABLE),
        (Kind.MOUSE_UNREADABLE, Kind.BUTTON_STATE, Drop.MOUSE_UNREADABLE),
    )
    for unreadable, state, why in devices:
        for start_ns, end_ns in _distrusted(log, unreadable, state, rules.resync_ns):
            _mark(reason, spans.touching(start_ns, end_ns), why)
    for start_ns, end_ns in _silences(log, spans, rules.silence_ns):
        _mark(reason, spans.touching(start_ns, end_ns), Drop.INPUT_SILENT)
    for death_ns in recording.death_ns.tolist():
        _mark(reason, spans.touching(death_ns, death_ns + rules.death_ns), Drop.DEATH)
    drop[rows] = reason
    return segmented(pts_ns, action, drop, cuts)


def _mark(reason: NDArray[np.uint8], where: slice | NDArray[np.bool_], why: Drop) -> None:
    """Give frames a reason unless they have one."""
    part = reason[where]
    reason[where] = np.where(part == Drop.KEPT, why, part)


def _require_whole_video(recording: Recording, pts_ns: NDArray[np.int64], cuts: CutRules) -> None:
    missing_ns = int(recording.screen_pts_ns.max()) - int(pts_ns.max())
    if missing_ns > cuts.gap_ns:
        raise UserError(
            f"{recording.video_path}: ends {missing_ns // MS} ms before the last frame that "
            f"{recording.path.name} logs; the video is cut short, copy it again"
        )


def _clock_jumps(recording: Recording, pts_ns: NDArray[np.int64], rules: PrefilterRules) -> NDArray[np.bool_]:
    """Frames whose screen message (their own or the last before) was logged far from where its time says."""
    order = np.argsort(recording.screen_pts_ns, kind="stable")
    screen_pts = recording.screen_pts_ns[order]
    drift = recording.screen_log_ns[order] - screen_pts - recording.offset_ns
    jumped = np.abs(drift) > rules.clock_ns
    # Matroska rounds to a millisecond what the log holds in nanoseconds.
    message = np.searchsorted(screen_pts, pts_ns + MS, side="right") - 1
    return (message >= 0) & jumped[np.maximum(message, 0)]


def _distrusted(log: InputLog, unreadable: Kind, state: Kind, resync_ns: int) -> list[tuple[int, int]]:
    """From each unreadable message of a device to its next state message."""
    states = log.time_ns[log.kind == state]
    spans = []
    for time_ns in log.time_ns[log.kind == unreadable].tolist():
        following = states[np.searchsorted(states, time_ns, side="right") :][:1]
        end_ns = min(int(following[0]), time_ns + resync_ns) if len(following) else time_ns + resync_ns
        spans.append((time_ns, end_ns))
    return spans


def _silences(log: InputLog, spans: FrameSpans, silence_ns: int) -> list[tuple[int, int]]:
    """Stretches with no message of any input stream that last longer than `silence_ns`.

    They start at the end of the frame in which the last message fell, so that this frame stays.
    """
    if not len(spans.start_ns):
        return []
    first_ns, last_ns = int(spans.start_ns[0]), int(spans.end_ns[-1])
    heard = log.time_ns[(log.time_ns > first_ns) & (log.time_ns < last_ns)]
    edges = np.concatenate(([first_ns], heard, [last_ns]))
    stretches = []
    for index in np.flatnonzero(np.diff(edges) > silence_ns).tolist():
        start_ns, end_ns = int(edges[index]), int(edges[index + 1])
        [frame] = spans.frame_at(np.array([start_ns])).tolist()
        heard_here = bool(np.isin(start_ns, log.time_ns))
        if frame >= 0 and heard_here:
            start_ns = int(spans.end_ns[frame])
        [frame] = spans.frame_at(np.array([end_ns])).tolist()
        if frame >= 0:
            end_ns = int(spans.start_ns[frame])
        stretches.append((start_ns, end_ns))
    return stretches
