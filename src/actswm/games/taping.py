"""Keep what a person plays: episodes of unknown length, row by row, as a dataset file, as OWAMcap, or both."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..data import DatasetSpec, DatasetWriter
from ..game import Frame, Game, Info, pose_of
from ..tape import AddRow, Keeper, Tape
from .episodes import RecordingPlan
from .recording import dataset_spec, open_owamcap, require_owamcap, require_same_plan

BATCH = 16
"""Rows that are written to the dataset file at once."""


@contextlib.contextmanager
def open_tape(plan: RecordingPlan, game: Game, path: Path | None, owamcap: Path | None) -> Iterator[Tape]:
    """Episodes go to the dataset file `path` and as `episode-00000.mcap` into the folder `owamcap`, if given.

    A file of the same plan is continued. A new one that got no episode is removed again.
    """
    spec = dataset_spec(plan, game)
    keepers: list[Keeper] = []
    before = 0
    if owamcap is not None:
        require_owamcap(spec)
        keepers.append(lambda seed: _owamcap_rows(owamcap / f"episode-{_next_number(owamcap):05}.mcap", spec))
        before = _next_number(owamcap)
    if path is None:
        yield Tape(keepers, before)
        return
    fresh = not path.exists()
    if not fresh:
        require_same_plan(path, spec)
    writer = DatasetWriter(path, spec)
    try:
        yield Tape([partial(_dataset_rows, writer), *keepers], writer.num_episodes)
    finally:
        empty = writer.num_episodes == 0
        writer.close()
        if empty and fresh:
            path.unlink()


def _next_number(owamcap: Path) -> int:
    """One more than the highest number of an episode there."""
    names = (path.stem.removeprefix("episode-") for path in owamcap.glob("episode-*.mcap"))
    return max((int(name) + 1 for name in names if name.isdigit()), default=0)


@contextlib.contextmanager
def _dataset_rows(writer: DatasetWriter, seed: int) -> Iterator[AddRow]:
    with writer.episode() as episode:
        waiting: list[tuple[Frame, NDArray[np.float32], list[float]]] = []

        def flush() -> None:
            pixels, action, pose = (np.stack(column) for column in zip(*waiting))
            episode.add(pixels, action, seed=np.full(len(waiting), seed), pose=pose)
            waiting.clear()

        def add(frame: Frame, action: NDArray[np.float32], info: Info) -> None:
            waiting.append((frame, action, pose_of(info["telemetry"])))
            if len(waiting) == BATCH:
                flush()

        yield add
        if waiting:
            flush()


@contextlib.contextmanager
def _owamcap_rows(path: Path, spec: DatasetSpec) -> Iterator[AddRow]:
    with open_owamcap(path, spec) as writer:
        yield lambda frame, action, info: writer.add(frame, action)
