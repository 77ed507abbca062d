"""An inverse-dynamics model on a recording that it has not seen: labels, probabilities, and where it knows nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..data import Dataset, WindowShape, open_checked, split_file, starts_in
from ..data.frames import FrameReader
from ..data.loader import require_vocabulary
from ..dataset_paths import label
from ..results import ControlReliability, IdmScore
from .domain import STRETCH
from .foreign import FOREIGN
from .motion import MotionMeter
from .motion_idm import RAW, STEP, MotionIdm, read_motion
from .motion_scoring import reliabilities, scores_of, separation
from .motion_training import answer, measure

_VIDEOS, _FRAMES = 12, 160
"""Videos of each foreign kind, and frames of each."""


def report_on(model: MotionIdm, data: Path, others: Sequence[Path] = (), split: str = "all") -> IdmScore:
    """`others` are recordings of other games. `split` all is for recordings from which nothing was trained."""
    skip = model.config.frameskip
    with open_checked(data) as file:
        require_vocabulary(file, model.encoding)
        episodes = split_file(file).part(split)
        rows = starts_in(file, WindowShape(skip + 1, 1), episodes)
        measured = measure(file, episodes, model)
    answered, valid = answer(model, measured), np.isin(measured.row, rows)
    whole = valid & (measured.row % skip == 0)  # model steps that do not overlap
    own = np.concatenate([model.domain.score(part)[::STRETCH] for part in _episodes(measured.motion, measured.row)])
    foreign = {path.stem: _recording_scores(model, path) for path in others}
    if others:
        foreign |= _made_scores(model, data, measured.row)
    reliability = tuple(
        ControlReliability(one.name, one.error, *(tuple(each.tolist()) for each in (one.count, one.promised, one.came)))
        for one in reliabilities(model, answered.of(valid), RAW)
    )
    return IdmScore(
        data=label(data),
        episodes=len(episodes),
        steps=scores_of(model, answered.of(whole), STEP),
        raw=scores_of(model, answered.of(valid), RAW),
        calibration_error=float(np.mean([one.error for one in reliability])) if reliability else float("nan"),
        reliability=reliability,
        off_domain_share=float((own > 1).mean()),
        separations={name: separation(own, scores) for name, scores in foreign.items()},
        caught={name: float((scores > 1).mean()) for name, scores in foreign.items()},
    )


def _episodes(motion: NDArray[np.float32], row: NDArray[np.int64]) -> list[NDArray[np.float32]]:
    return np.split(motion, np.flatnonzero(np.diff(row) != 1) + 1)


def _recording_scores(model: MotionIdm, path: Path) -> NDArray[np.float32]:
    """Stretches of up to 2 x _VIDEOS episodes of another recording."""
    with open_checked(path) as file:
        spans = _spans(file)
    frames = FrameReader.of(path)
    parts = [read_motion(frames, model.grid, begin, end) for begin, end in spans]
    return np.concatenate([model.domain.score(part)[::STRETCH] for part in parts])


def _spans(file: Dataset) -> list[tuple[int, int]]:
    chosen = np.unique(np.linspace(0, file.num_episodes - 1, 2 * _VIDEOS).astype(int))
    return [
        (int(file.ep_offset[episode]), int(file.ep_offset[episode] + min(file.ep_len[episode], 2 * _FRAMES)))
        for episode in chosen
        if file.ep_len[episode] > 1
    ]


def _made_scores(model: MotionIdm, data: Path, rows: NDArray[np.int64]) -> dict[str, NDArray[np.float32]]:
    """The frozen pictures are the recording's own."""
    frames, scores = FrameReader.of(data), dict[str, NDArray[np.float32]]()
    pictures = np.empty((_VIDEOS, *frames.shape), np.uint8)
    frames.read(rows[np.linspace(0, len(rows) - 1, _VIDEOS).astype(int)], pictures)
    for name, make in FOREIGN.items():
        videos = (make(picture, _FRAMES, np.random.default_rng(i)) for i, picture in enumerate(pictures))
        parts = [model.domain.score(MotionMeter(model.grid).measure(video))[::STRETCH] for video in videos]
        scores[name] = np.concatenate(parts)
    return scores
