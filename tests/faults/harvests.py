"""Mutations of a harvest's folder: its plan, lists and records, and the pictures and times that stages hand on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .raw_bytes import mutate_bytes
from .trees import mutate_json, mutate_json_lines

Rng = np.random.Generator


def mutate_harvest(folder: Path, rng: Rng) -> str:
    files = sorted(path for path in (folder / "harvest").rglob("*") if path.suffix in _CHANGES)
    files = [path for path in files if path.suffix != ".jsonl" or path.stem == "discover"]
    chosen = files[int(rng.integers(len(files)))]
    return f"{chosen.parent.name}: {_CHANGES[chosen.suffix](chosen, rng)}"


_CHANGES = {".json": mutate_json, ".jsonl": mutate_json_lines, ".npz": mutate_bytes, ".zip": mutate_bytes}
