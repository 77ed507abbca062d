"""Mutations of CSV files: cells, and bytes that are no text."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .raw_bytes import mutate_bytes

ODD = (
    "",
    "x",
    "nan",
    "-1",
    "1e999",
    "1" * 400,
    '"',
    "é",
    "\x00",
    "\r",
    "step",
    "\n",
    "\x1b[31m",
    "<b>",
    "0.5",
)


def mutate_csv(path: Path, rng: np.random.Generator) -> str:
    if rng.random() < 0.4:
        return mutate_bytes(path, rng)
    cells = [line.split(",") for line in path.read_text().splitlines()]
    row = cells[int(rng.integers(len(cells)))]
    row[int(rng.integers(len(row)))] = word = ODD[int(rng.integers(len(ODD)))]
    path.write_text("\n".join(",".join(cell) for cell in cells))
    return f"{path.name}: cell {word!r:.20}"
