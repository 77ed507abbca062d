"""What is inside a dataset file, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dataset_paths import AnyDataset
from .opening import open_checked


@dataclass(frozen=True)
class ControlSummary:
    name: str
    binary: bool
    active_share: float
    """Share of frames in which the control is not at rest."""
    changes_per_100: float
    mean: float


@dataclass(frozen=True)
class Summary:
    source: str
    action_origin: str
    vocabulary: str
    episodes: int
    frames: int
    shortest: int
    longest: int
    height: int
    width: int
    fps: float
    invalid_share: float
    controls: tuple[ControlSummary, ...]

    @property
    def hours(self) -> float:
        return self.frames / self.fps / 3600


def summarise(path: AnyDataset) -> Summary:
    with open_checked(path) as file:
        action = file.action
        inside = file.episode_idx[1:] == file.episode_idx[:-1]
        changed = (action[1:] != action[:-1])[inside]
        controls = tuple(
            ControlSummary(
                name=control.name,
                binary=control.binary,
                active_share=float((action[:, i] != 0).mean()),
                changes_per_100=100 * float(changed[:, i].mean()) if len(changed) else 0.0,
                mean=float(action[:, i].mean()),
            )
            for i, control in enumerate(file.vocabulary.controls)
        )
        return Summary(
            source=file.source,
            action_origin=file.action_origin,
            vocabulary=file.vocabulary.name,
            episodes=file.num_episodes,
            frames=file.num_frames,
            shortest=int(file.ep_len.min()),
            longest=int(file.ep_len.max()),
            height=file.height,
            width=file.width,
            fps=file.fps,
            invalid_share=float(1 - np.mean(file.frame_valid)),
            controls=controls,
        )
