"""Lightning's CSV log of a run, with which a resumed run goes on: Lightning itself would begin it anew."""

from __future__ import annotations

import csv
from pathlib import Path

from lightning.pytorch.loggers import CSVLogger
from lightning.pytorch.utilities import rank_zero_only


def metrics_log(folder: Path, start: int) -> CSVLogger:
    """A log in folder/logs/metrics.csv that keeps what an earlier part of the run logged before step `start`."""
    earlier = _rows(folder / "logs" / "metrics.csv", start)
    logger = CSVLogger(folder, name="", version="logs")
    if earlier:
        _put_back(logger, earlier)
    return logger


def _rows(path: Path, before: int) -> list[dict[str, str]]:
    """Logged rows without their empty cells; the last line of a killed run may be cut and is left out."""
    if not path.exists():
        return []
    with open(path, newline="") as file:
        whole = [row for row in csv.DictReader(file) if None not in row.values() and row["step"]]
    return [{name: cell for name, cell in row.items() if cell} for row in whole if int(row["step"]) < before]


@rank_zero_only
def _put_back(logger: CSVLogger, rows: list[dict[str, str]]) -> None:
    logger.experiment.metrics.extend(rows)  # type: ignore[arg-type]  # it only writes them
    logger.save()
