"""Record a game to a dataset file with several worker processes.

Workers play whole episodes, each every W-th; this process takes them in order and appends them to the file. So
the file depends on the plan alone: not on the number of workers, not on timing, not on interruptions. A killed
recording keeps its finished episodes, and the same call goes on after them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..data import Column, DatasetSpec, DatasetWriter, open_checked
from ..data.siblings import REPEATS
from ..data.twins import TWIN
from ..errors import UserError
from ..executor import ExecutorKind
from ..game import Game
from .episodes import POSE, Episode, RecordingPlan, scenario_of
from .forks import family_size, fork_row, place_in_family, repeats
from .workers import play_in_order, play_on_ray, recorder_of

if TYPE_CHECKING:
    from ..formats.owamcap import OwamcapWriter


@dataclass(frozen=True)
class Recording:
    """What is in the file at the end, and how much of it this call recorded."""

    path: Path
    episodes: int
    frames: int
    new_frames: int


def record(
    plan: RecordingPlan,
    steps: int,
    path: str | os.PathLike[str],
    *,
    workers: int = 1,
    executor: ExecutorKind = "processes",
    compression: str | None = None,
    owamcap: str | os.PathLike[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Recording:
    """Fill the dataset file at `path` up to `steps` frames of `plan`; the last episode is cut to fit.

    `progress` is told the number of frames in the file. `owamcap` is a folder that gets each episode that this
    call records as OWAMcap (`episode-00000.mcap` and its video) as well. On Ray each episode is a task.
    """
    if steps < 1 or workers < 1 or plan.episode_steps < 2:
        raise UserError("record needs at least 1 step, 1 worker and 2 steps an episode")
    path = Path(path)
    with contextlib.closing(plan.open_game()) as game:  # no engine starts before reset
        recorder_of(game, plan)  # a wrong plan fails here, before there is a file
        scenario_of(game, plan, plan.episode_seed(0))
        spec = replace(dataset_spec(plan, game), compression=compression)
    if owamcap is not None:
        require_owamcap(spec)
    if path.exists():
        require_same_plan(path, spec)
    with DatasetWriter(path, spec) as writer:
        before = writer.num_frames
        if progress:
            progress(before)
        if before < steps:
            first = writer.num_episodes
            with play_on_ray(plan, first) if executor == "ray" else play_in_order(plan, first, workers) as episodes:
                while writer.num_frames < steps:
                    episode = next(episodes).first(steps - writer.num_frames)
                    if owamcap is not None:
                        write_owamcap(Path(owamcap) / f"episode-{writer.num_episodes:05}.mcap", episode, spec)
                    columns = {"seed": np.full(len(episode), episode.seed), "pose": episode.pose}
                    if plan.branches:
                        columns[REPEATS] = _repeats(plan, writer, episode)
                    if plan.looks > 1:
                        columns[TWIN] = _twin(plan, writer, episode)
                    writer.append(episode.pixels, episode.action, **columns)
                    if progress:
                        progress(writer.num_frames)
        return Recording(path, writer.num_episodes, writer.num_frames, writer.num_frames - before)


def _repeats(plan: RecordingPlan, writer: DatasetWriter, episode: Episode) -> NDArray[np.int64]:
    """Which rows of the episode that comes next show what an earlier one has shown."""
    number, fork = place_in_family(plan, writer.num_episodes)
    if fork is None:
        return np.zeros(len(episode), np.int64)
    parent = writer.rows_of(number * family_size(plan))
    row = fork_row(fork, len(parent), episode.seed)
    return repeats(row, len(episode), writer.num_frames - parent.start)


def _twin(plan: RecordingPlan, writer: DatasetWriter, episode: Episode) -> NDArray[np.int64]:
    """How far up each row's moment was shown in the first look."""
    look = writer.num_episodes % plan.looks
    first = writer.rows_of(writer.num_episodes - look).start if look else writer.num_frames
    return np.full(len(episode), writer.num_frames - first)


def dataset_spec(plan: RecordingPlan, game: Game) -> DatasetSpec:
    """The dataset file of a plan: beside the frames the seed and pose, so that each can be rendered again."""
    height, width = plan.size
    return DatasetSpec(
        vocabulary=game.vocabulary,
        height=height,
        width=width,
        fps=game.fps,
        source=game.name,
        action_origin="recorded",
        attributes={
            "seed": plan.seed,
            "behaviour": plan.behaviour,
            "task": plan.task.name if plan.task else None,
            "episode_steps": plan.episode_steps,
            "options": dict(plan.options),
            "branches": plan.branches or None,
            "looks": plan.looks if plan.looks > 1 else None,
            "effective": [name for name, on in zip(game.vocabulary.names, game.effective) if on],
            "pose": list(POSE),
        },
        columns={
            "seed": Column("int64"),
            "pose": Column("float32", (len(POSE),)),
            **({REPEATS: Column("int64")} if plan.branches else {}),
            **({TWIN: Column("int64")} if plan.looks > 1 else {}),
        },
    )


def write_owamcap(path: Path, episode: Episode, spec: DatasetSpec) -> None:
    """One episode as MCAP with its video beside it; both appear when they are complete."""
    with open_owamcap(path, spec) as writer:
        for frame, action in zip(episode.pixels, episode.action):
            writer.add(frame, action)


def require_owamcap(spec: DatasetSpec) -> None:
    """Refuse vocabularies that no keyboard knows, before anything is played."""
    from ..formats.keymap import keys_of

    keys_of(spec.vocabulary)


def open_owamcap(path: Path, spec: DatasetSpec) -> OwamcapWriter:
    from ..formats.owamcap import OwamcapWriter

    return OwamcapWriter(path, height=spec.height, width=spec.width, fps=spec.fps, vocabulary=spec.vocabulary)


def require_same_plan(path: Path, spec: DatasetSpec) -> None:
    """Refuse to go on with a file that was recorded otherwise."""
    with open_checked(path, may_be_empty=True) as file:
        for name, value in spec.attributes.items():
            if file.attributes.get(name) != value:
                raise UserError(
                    f"{path}: was recorded with {name} {file.attributes.get(name)!r}, not {value!r}; "
                    "choose another file"
                )
