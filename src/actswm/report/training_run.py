"""A training run's folder, read back: its losses, its configuration, and where the model comes from."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from .results import Made

CONFIG, METRICS = "config.yaml", Path("logs", "metrics.csv")


@dataclass(frozen=True)
class TrainingRun:
    """`losses` maps a logged figure (validation ones begin with `val/`) to its (step, value) pairs."""

    name: str
    losses: Mapping[str, tuple[tuple[int, float], ...]]
    config: str
    made: Made
    steps: int | None
    """None while the run has not finished."""
    data: str
    validation: Mapping[str, float]
    seconds: float | None
    machine: str


def is_run(folder: Path) -> bool:
    return (folder / CONFIG).is_file() and (folder / METRICS).is_file()


def is_model(folder: Path) -> bool:
    """A folder of weights, as a run leaves it in `model/` and as they are shipped."""
    path = folder / "config.json"
    if not path.is_file():
        return False
    try:
        return "actswm_version" in json.loads(path.read_text())
    except ValueError:
        return False


def read_run(folder: Path) -> TrainingRun:
    """A run, finished or not, or a folder of weights alone."""
    if not is_run(folder):
        name = folder.resolve().parent.name if folder.resolve().name == "model" else folder.resolve().name
        return _run(name, {}, "", folder / "config.json")
    model = folder / "model" / "config.json"
    config = (folder / CONFIG).read_text()
    return _run(folder.resolve().name, _losses(folder / METRICS), config, model)


def _run(name: str, losses: Mapping[str, Any], config: str, model: Path) -> TrainingRun:
    try:
        origin = json.loads(model.read_text())["provenance"] if model.is_file() else {}
        data = origin.get("data", {})
        return TrainingRun(
            name,
            losses,
            config,
            Made(origin.get("command", ""), origin.get("commit", ""), origin.get("seed")),
            origin.get("steps"),
            f"{data['file']} ({data['source']})" if data else "",
            origin.get("validation", {}),
            origin.get("seconds"),
            origin.get("machine", ""),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{model}: has no sound provenance ({error}); train again, or remove it") from None


def _losses(path: Path) -> dict[str, tuple[tuple[int, float], ...]]:
    """Columns of Lightning's CSV log; rows hold some of them, and a resumed run logs a step again."""
    figures: dict[str, dict[int, float]] = {}
    with open(path, newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            try:
                step = int(row["step"])
                for name, value in row.items():
                    if name not in ("step", "epoch") and value:
                        figures.setdefault(name, {})[step] = float(value)
            except (KeyError, TypeError, ValueError) as error:
                raise UserError(f"{path}: line {number} is not a logged step ({error})") from None
    return {name: tuple(sorted(values.items())) for name, values in figures.items()}
