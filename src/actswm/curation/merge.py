"""Puts the parts of all recordings into one dataset file, in the order of the recordings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic import appearing_whole
from ..data import Column, DatasetSpec, DatasetWriter, open_checked
from ..data.merging import copy_episode
from .manifest import Entry, Manifest
from .report import RecordingReport
from .settings import CleanSettings
from .work import COLUMNS

_MOST_NAME_BYTES = 32_000
"""HDF5 attributes hold 64 KB; longer lists of names stay in the manifest alone."""


@dataclass(frozen=True)
class Piece:
    """A recording's episodes: all of a part file, or some of the dataset file that is being replaced."""

    key: str
    report: RecordingReport
    path: Path
    first_episode: int = 0


def merge(pieces: Sequence[Piece], out: Path, settings: CleanSettings) -> None:
    """Write `out` and its manifest; both appear whole or stay as they were."""
    first_episodes = [0, *accumulate(piece.report.episodes for piece in pieces)]
    manifest = Manifest(tuple(Entry(p.key, first, p.report) for p, first in zip(pieces, first_episodes)))
    attributes: dict[str, Any] = {"cleaning": settings.describe(), "manifest": manifest.fingerprint}
    names = [piece.report.name for piece in pieces]
    if len(json.dumps(names)) < _MOST_NAME_BYTES:
        attributes["recordings"] = names
    spec = DatasetSpec(
        settings.vocabulary,
        settings.height,
        settings.width,
        settings.fps or _rate(pieces),
        source=settings.domain.name,
        attributes=attributes,
        columns={**COLUMNS, "recording": Column("int32")},
        compression=settings.compression,
    )
    with appearing_whole(out) as temporary:
        with DatasetWriter(temporary, spec) as writer:
            for number, piece in enumerate(pieces):
                _copy(piece, number, writer)
        manifest.announce(out)
    manifest.settle(out)


def _rate(pieces: Sequence[Piece]) -> float:
    """The rate of most of the time that was kept."""
    rates = sorted((piece.report.fps, piece.report.kept_ns) for piece in pieces)
    passed = np.cumsum([kept_ns for _, kept_ns in rates])
    return rates[int(np.searchsorted(passed, passed[-1] / 2))][0]


def _copy(piece: Piece, number: int, writer: DatasetWriter) -> None:
    with open_checked(piece.path, may_be_empty=True) as file:
        columns = {"pts_ns": file.column("pts_ns"), "recording": np.full(file.num_frames, number)}
        for index in range(piece.first_episode, piece.first_episode + piece.report.episodes):
            copy_episode(file, index, writer, columns)
