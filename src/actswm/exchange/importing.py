"""A dataset of another form becomes a dataset file, episode by episode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from ..controls import Control, Vocabulary, vocabulary_of
from ..data.layout import DatasetSpec
from ..data.writer import new_dataset
from ..errors import UserError

BLOCK = 64
"""Frames in memory at a time."""


@dataclass(frozen=True)
class Episode:
    """The rows of one episode; `frames` yields (n, h, w, 3) blocks and, for each frame, whether it is whole."""

    name: str
    action: NDArray[np.float32]
    frame_valid: NDArray[np.bool_]
    columns: Mapping[str, NDArray[Any]]
    frames: Iterator[tuple[NDArray[np.uint8], NDArray[np.bool_]]]


class Importable(Protocol):
    """A dataset of another form, opened."""

    spec: DatasetSpec
    num_frames: int

    def episodes(self) -> Iterator[Episode]: ...


def import_dataset(
    source: Importable, out: Path, size: int | None, progress: Callable[[int], None] = lambda frames: None
) -> tuple[int, int]:
    """Write all episodes in order to a new file at `out`, which appears when it is complete; its episodes and frames.

    An action that is no number (some recorders know none for an episode's last frame) becomes a no-op in a frame that
    is not valid. `size`: stretch the frames to it.
    """
    if out.exists():
        raise UserError(f"{out}: is there already; choose another --out")
    spec = replace(source.spec, height=size or source.spec.height, width=size or source.spec.width)
    with new_dataset(out, spec) as writer:
        for episode in source.episodes():
            known = np.asarray(np.isfinite(episode.action).all(axis=1))
            action = np.where(known[:, None], episode.action, np.float32(0))
            _require_binary(action, spec.vocabulary, episode.name)
            valid = episode.frame_valid & known
            with writer.episode() as rows:
                for frames, whole in episode.frames:
                    block = slice(rows.length, rows.length + len(frames))
                    extra = {name: values[block] for name, values in episode.columns.items()}
                    rows.add(_stretched(frames, spec), action[block], valid[block] & whole, **extra)
                    progress(writer.num_frames)
                if rows.length != len(action):
                    raise UserError(
                        f"{episode.name}: has {len(action)} rows but {rows.length} frames; get it again"
                    )
        return writer.num_episodes, writer.num_frames


def stacked(frames: list[NDArray[np.uint8]], where: str) -> NDArray[np.uint8]:
    if len({frame.shape for frame in frames}) > 1:
        raise UserError(f"{where}: its pictures differ in size; a dataset has frames of one size")
    return np.stack(frames)


def own_vocabulary(spelling: str | None, names: list[str] | None, size: int, where: str) -> Vocabulary:
    """The controls of actions that somebody else recorded: as spelled, else continuous ones by their names, if any."""
    if spelling:
        vocabulary = vocabulary_of(spelling)
        if vocabulary.size != size:
            raise UserError(
                f"{where}: an action has {size} numbers, but {spelling} has {vocabulary.size} controls"
            )
        return vocabulary
    if names and len(set(names)) == size:
        own = Vocabulary("lerobot", tuple(Control(name, binary=False) for name in names))
        try:
            return vocabulary_of(own.spelling)
        except UserError:  # a name that no vocabulary can spell
            pass
    return vocabulary_of(f"box{size}")


def _require_binary(action: NDArray[np.float32], vocabulary: Vocabulary, where: str) -> None:
    for name, binary, values in zip(vocabulary.names, vocabulary.binary, action.T):
        if binary and len(values) and (values.min() < 0 or values.max() > 1):
            raise UserError(
                f"{where}: {name} ranges from {values.min():g} to {values.max():g}, so it is no key; "
                f"spell it as continuous: --vocabulary '...({name}~)'"
            )


def _stretched(frames: NDArray[np.uint8], spec: DatasetSpec) -> NDArray[np.uint8]:
    if frames.shape[1:3] == (spec.height, spec.width):
        return frames
    size = (spec.width, spec.height)
    return np.stack([cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in frames])  # type: ignore[misc]
