"""Where a model comes from: the command, data, seed, commit and machine that made it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data import open_checked


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
    with open_checked(data) as file:
        source = {
            "file": data.name,
            "source": file.source,
            "frames": file.num_frames,
            "episodes": file.num_episodes,
            "fps": file.fps,
            "frame_size": [file.height, file.width],
            "attributes": file.attributes,
        }
    return {
        "command": command,
        "data": source,
        "seed": seed,
        "steps": steps,
        "validation": {name: round(value, 5) for name, value in scores.items()},
        "seconds": round(seconds, 1),
        "commit": revision,
        "machine": f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}",
    }
