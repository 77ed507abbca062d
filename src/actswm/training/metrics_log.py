"""Lightning's CSV log of a run, with which a resumed run goes on: Lightning itself would begin it anew."""

from __future__ import annotations

import csv
from pathlib import Path

from lightning.pytorch.loggers import CSVLogger
from lightning.pytorch.utilities import rank_zero_only

from ..errors import UserError


def metrics_log(folder: Path, start: int) -> CSVLogger:
    """A log in folder/logs/metrics.csv that keeps what an earlier part of the run logged up to step `start`."""
    earlier = _rows(folder / "logs" / "metrics.csv", start)
    logger = CSVLogger(folder, name="", version="logs")
    if earlier:
        _put_back(logger, earlier)
    return logger


def _rows(path: Path, start: int) -> list[dict[str, str]]:
    """Logged rows without their empty cells; the last line of a killed run may be cut and is left out."""
    if not path.exists():
        return []
    kept = []
    try:
        lines = path.read_bytes().decode().splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        for row in csv.DictReader(whole, strict=True):
            logged = {name: cell for name, cell in row.items() if cell}
            if _belongs(logged, start):
                kept.append(logged)
    except (KeyError, ValueError, csv.Error) as error:
        raise UserError(f"{path}: damaged ({error}); move it away to go on without the earlier log") from None
    return kept


def _belongs(row: dict[str, str], start: int) -> bool:
    """Batches count from 0, so that of a checkpoint's step comes after it; validations are of the steps before."""
    if None in row:
        raise ValueError("a line has more cells than names")
    step = int(row["step"])
    return step < start or (step == start and any(name.startswith("val/") for name in row))


@rank_zero_only
def _put_back(logger: CSVLogger, rows: list[dict[str, str]]) -> None:
    logger.experiment.metrics.extend(rows)  # type: ignore[arg-type]  # it only writes them
    logger.save()
