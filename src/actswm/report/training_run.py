"""A training run's folder, read back: its losses, its configuration, and where the model comes from."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..json_files import read_json
from ..origin import Origin
from ..results import Provenance
from ..results.form import LARGEST, decode

CONFIG, METRICS = "config.yaml", Path("logs", "metrics.csv")


@dataclass(frozen=True)
class TrainingRun:
    """`losses` maps a logged figure (validation ones begin with `val/`) to its (step, value) pairs."""

    name: str
    losses: Mapping[str, tuple[tuple[int, float], ...]]
    config: str
    origin: Origin
    steps: int | None
    """None while the run has not finished."""
    data: str
    validation: Mapping[str, float]
    seconds: float | None


def is_run(folder: Path) -> bool:
    return (folder / CONFIG).is_file() and (folder / METRICS).is_file()


def is_model(folder: Path) -> bool:
    """A folder of weights, as a run leaves it in `model/` and as they are shipped."""
    path = folder / "config.json"
    if not path.is_file():
        return False
    try:
        content = read_json(path)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "actswm_version" in content


def read_run(folder: Path) -> TrainingRun:
    """A run, finished or not, or a folder of weights alone."""
    if not is_run(folder):
        name = folder.resolve().parent.name if folder.resolve().name == "model" else folder.resolve().name
        return _run(name, {}, "", folder / "config.json")
    model = folder / "model" / "config.json"
    config = (folder / CONFIG).read_text(errors="replace")
    return _run(folder.resolve().name, _losses(folder / METRICS), config, model)


def _run(name: str, losses: Mapping[str, Any], config: str, model: Path) -> TrainingRun:
    try:
        told = decode(Provenance, read_json(model)["provenance"]) if model.is_file() else Provenance()
        return TrainingRun(
            name,
            losses,
            config,
            told.origin,
            told.steps,
            f"{told.data.file} ({told.data.source})" if told.data else "",
            told.validation,
            told.seconds,
        )
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise UserError(f"{model}: has no sound provenance ({error}); train again, or remove it") from None


def _losses(path: Path) -> dict[str, tuple[tuple[int, float], ...]]:
    """Columns of Lightning's CSV log; rows hold some of them, and a resumed run logs a step again."""
    figures: dict[str, dict[int, float]] = {}
    rows = None
    try:
        rows = csv.DictReader(path.read_bytes().decode().splitlines())
        for row in rows:
            step = int(row["step"])
            if not 0 <= step <= LARGEST:
                raise ValueError(f"step {row['step'][:20]} is too large")
            for name, value in row.items():
                if name not in ("step", "epoch") and value and abs(float(value)) <= LARGEST:
                    figures.setdefault(name, {})[step] = float(value)
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        line = rows.line_num if rows else 1
        raise UserError(f"{path}: line {line} is not a logged step ({error})") from None
    return {name: tuple(sorted(values.items())) for name, values in figures.items()}
