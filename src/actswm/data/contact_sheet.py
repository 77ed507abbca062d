"""A contact sheet: stretches of frames with the controls held in them, for a person to check."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from ..atomic import write_whole
from ..dataset_paths import AnyDataset
from .dataset import Dataset
from .opening import open_checked

CAPTION = 18
TILE = 128
GAP, DARK = 4, 30


def write_contact_sheet(
    path: AnyDataset, out: Path, rows: int = 8, columns: int = 8, stride: int = 8, seed: int = 0
) -> None:
    """Each row of the sheet is one stretch of an episode, `stride` raw frames from tile to tile."""
    rng = np.random.default_rng(seed)
    with open_checked(path) as file:
        span = (columns - 1) * stride + 1
        long_enough = np.flatnonzero(file.ep_len >= span)
        if len(long_enough) == 0:
            stride, span, long_enough = 1, 1, np.arange(file.num_episodes)
        sheet = []
        for episode in np.sort(rng.choice(long_enough, rows, replace=len(long_enough) < rows)):
            start = file.ep_offset[episode] + rng.integers(file.ep_len[episode] - span + 1)
            frames = [min(start + i * stride, file.num_frames - 1) for i in range(columns)]
            sheet.append(np.concatenate([_tile(file, row) for row in frames], 1))
    image = np.concatenate(sheet, 0)
    write_whole(out, cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR))[1].tobytes())


def _tile(file: Dataset, row: int) -> NDArray[np.uint8]:
    frame = cv2.resize(file.frames(slice(row, row + 1))[0], (TILE, TILE), interpolation=cv2.INTER_NEAREST)
    caption = np.full((CAPTION, TILE, 3), DARK, np.uint8)
    text = f"e{file.episode_idx[row]}:{file.step_idx[row]} " + " ".join(
        file.vocabulary.pressed(file.action[row])
    )
    colour = (240, 240, 240) if file.frame_valid[row] else (240, 90, 90)
    cv2.putText(caption, text[:26], (2, 12), cv2.FONT_HERSHEY_SIMPLEX, 0.32, colour, 1, cv2.LINE_AA)
    tile = np.concatenate([caption, frame], 0)
    return np.pad(tile, ((0, 0), (0, GAP), (0, 0)), constant_values=DARK)
