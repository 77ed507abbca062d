"""Score a predicted OWAMcap recording against the recorded one: how other projects' models join the table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..controls import ActionEncoding
from ..errors import UserError
from ..formats.keymap import DEFAULT_KEYS, KeyMap
from ..formats.owamcap import FrameSpans, Recording, actions_of_frames, read_recording
from ..formats.video import MS
from ..results import Scores
from .metrics import score
from .steps import step_vectors

_LONGEST_FRAME_NS = 150 * MS


def score_owamcap(
    predicted: Path, recorded: Path, encoding: ActionEncoding, key_map: KeyMap | None = None, window: int = 32
) -> Scores:
    """Both projected onto the frames of `recorded`, aggregated to model steps, in windows for the intervals.

    Times are compared on the video's clock, so the two files may have been written at different hours.
    """
    truth, guess = read_recording(recorded), read_recording(predicted)
    frames = truth.screen_pts_ns
    vectors = [
        step_vectors(_actions(part, frames, _keys(part, encoding, key_map), encoding.frameskip), encoding)
        for part in (guess, truth)
    ]
    count = len(vectors[0]) // window
    if count == 0:
        raise UserError(
            f"{recorded}: has {len(frames)} frames; a window of {window} steps needs "
            f"{window * encoding.frameskip}, choose a smaller --steps"
        )
    mine, true = (part[: count * window].reshape(count, window, -1) for part in vectors)
    return score(mine, true, encoding.vocabulary)


def _keys(recording: Recording, encoding: ActionEncoding, key_map: KeyMap | None) -> KeyMap:
    """The given key map, else the file's own, else the usual one of the vocabulary."""
    own = recording.key_map
    if key_map is None and own is not None and own.vocabulary == encoding.vocabulary:
        return own
    return key_map or DEFAULT_KEYS[encoding.vocabulary.name]


def _actions(
    recording: Recording, pts_ns: NDArray[np.int64], keys: KeyMap, frameskip: int
) -> NDArray[np.float32]:
    """Raw actions of the frames shown at `pts_ns`, cut to whole steps."""
    spans = FrameSpans.of_frames(np.sort(pts_ns) + recording.offset_ns, _LONGEST_FRAME_NS)
    actions = actions_of_frames(recording.inputs, spans, keys)
    return actions[: len(actions) // frameskip * frameskip]
