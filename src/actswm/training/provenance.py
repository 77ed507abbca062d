"""Where a model comes from: the command, data, seed, commit and machine that made it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data import open_checked
from ..dataset_paths import label
from ..origin import Origin
from ..results import Provenance, TrainingData
from ..results.form import encode


def provenance(
    data: Path,
    command: str,
    revision: str,
    seed: int,
    steps: int,
    scores: Mapping[str, float],
    seconds: float,
) -> dict[str, Any]:
    """`revision`: the commit at which the run began (it may have moved on since)."""
    machine = f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}"
    with open_checked(data) as file:
        source = TrainingData(
            label(data),
            file.source,
            file.num_frames,
            file.num_episodes,
            file.fps,
            (file.height, file.width),
            file.attributes,
        )
    validation = {name: round(value, 5) for name, value in scores.items()}
    told = Provenance(source, steps, validation, round(seconds, 1), Origin(command, revision, machine, seed))
    return dict(encode(told, digits=None))
