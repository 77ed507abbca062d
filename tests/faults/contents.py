"""What a command's output says, without what differs from run to run: times, and the bytes' places in a file."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

FLEETING = ("command", "commit", "machine", "cpu_seconds", "plan_cpu_seconds", "seconds", "latency")


def dataset(path: Path) -> dict[str, Any]:
    """Columns and attributes of a dataset file."""
    with h5py.File(path, "r") as file:
        columns = {name: _digest(column[()]) for name, column in file.items()}
        return columns | {f"@{name}": str(value) for name, value in file.attrs.items()}


def _digest(values: Any) -> str:
    values = np.asarray(values)
    return f"{values.dtype}{values.shape}{hashlib.sha256(values.tobytes()).hexdigest()}"


def trained(folder: Path) -> dict[str, Any]:
    """The weights, bit for bit, and the steps of the log."""
    from safetensors.numpy import load_file

    with open(folder / "logs" / "metrics.csv", newline="") as file:
        steps = [row["step"] for row in csv.DictReader(file)]
    weights = load_file(folder / "model" / "model.safetensors")
    return {name: _digest(tensor) for name, tensor in weights.items()} | {"logged steps": steps}


def plans(folder: Path) -> dict[str, Any]:
    """The counts and every episode."""
    files = sorted(folder.rglob("*.json"))
    found = {str(file.relative_to(folder)): _lasting(json.loads(file.read_text())) for file in files}
    clips = sorted(folder.rglob("*.npz"))
    return found | {str(clip.relative_to(folder)): _arrays(clip) for clip in clips}


def _arrays(path: Path) -> dict[str, str]:
    with np.load(path) as file:
        return {name: _digest(file[name]) for name in file.files}


def _lasting(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _lasting(value) for key, value in tree.items() if key not in FLEETING}
    return [_lasting(value) for value in tree] if isinstance(tree, list) else tree


def episodes(path: Path) -> list[str]:
    """One digest an episode: a file that grew begins with what it was."""
    with h5py.File(path, "r") as file:
        bounds = zip(file["ep_offset"][()], file["ep_len"][()])
        pixels, action = file["pixels"], file["action"]
        return [
            _digest(pixels[start : start + length]) + _digest(action[start : start + length])
            for start, length in bounds
        ]
