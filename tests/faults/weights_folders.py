"""Mutations of what training leaves: weights folders, checkpoints, and the pickles inside."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .raw_bytes import mutate_bytes, not_a_file
from .trees import mutate_json, mutate_tree

Rng = np.random.Generator


def mutate_weights(folder: Path, rng: Rng) -> str:
    """One file of a folder with a configuration (JSON) and weights (safetensors)."""
    way = rng.random()
    weights, config = next(folder.glob("*.safetensors")), next(folder.glob("*.json"))
    if way < 0.5:
        return mutate_json(config, rng)
    if way < 0.56:
        return not_a_file(config if rng.random() < 0.5 else weights, rng)
    if way < 0.75:
        return mutate_bytes(weights, rng)
    if way < 0.9:
        return _header(weights, rng)
    return _numbers(weights, rng)


def mutate_decoder(folder: Path, rng: Rng) -> str:
    """The decoder that lies beside a model, or what its header says of it."""
    path = folder / "decoder.safetensors"
    way = rng.random()
    if way < 0.1:
        return not_a_file(path, rng)
    if way < 0.35:
        return mutate_bytes(path, rng)
    return (_header, _settings, _numbers)[int(rng.integers(3))](path, rng)


def _settings(path: Path, rng: Rng) -> str:
    """The configuration is JSON within the JSON of the header."""

    def change(tree: dict[str, Any]) -> str:
        about = tree["__metadata__"]
        if rng.random() < 0.2:
            return f"metadata {mutate_tree(about, rng)}"
        config = json.loads(about["config"])
        said = mutate_tree(config, rng)
        about["config"] = json.dumps(config)
        return f"config {said}"

    return _changed_header(path, change)


def _header(path: Path, rng: Rng) -> str:
    """safetensors: 8 bytes length, JSON with types, shapes and offsets, then the numbers."""
    return _changed_header(path, lambda tree: mutate_tree(tree, rng))


def _changed_header(path: Path, change: Callable[[dict[str, Any]], str]) -> str:
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    tree = json.loads(data[8 : 8 + length])
    said = change(tree)
    header = json.dumps(tree).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + data[8 + length :])
    return f"header: {said}"


def _numbers(path: Path, rng: Rng) -> str:
    """NaN, infinite or huge weights in a sound file."""
    data = bytearray(path.read_bytes())
    begin = 8 + int.from_bytes(data[:8], "little")
    kind = "<f2" if path.stem == "decoder" else "<f4"
    size = np.dtype(kind).itemsize
    count = (len(data) - begin) // size
    filler = (float("nan"), float("inf"), 6e4 if size == 2 else 1e38, 0.0)[int(rng.integers(4))]
    start = int(rng.integers(count))
    stop = count if rng.random() < 0.3 else min(count, start + 20)
    data[begin + size * start : begin + size * stop] = np.full(stop - start, filler, kind).tobytes()
    path.write_bytes(data)
    return f"{filler} in {stop - start} weights"


def mutate_checkpoint(path: Path, rng: Rng) -> str:
    """A torch checkpoint: a zip whose members are changed one by one, or a dictionary that lacks something."""
    way = rng.random()
    if way < 0.3:
        return mutate_bytes(path, rng)
    if way < 0.35:
        return not_a_file(path, rng)
    return _member(path, rng) if way < 0.55 else _entry(path, rng)


def _member(path: Path, rng: Rng) -> str:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = list(members)[int(rng.integers(len(members)))]
    if rng.random() < 0.3:
        del members[name]
    else:
        changed = bytearray(members[name] or b"\0")
        for _ in range(3):
            changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
        members[name] = bytes(changed)
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return f"member {name}"


def _entry(path: Path, rng: Rng) -> str:
    """What Lightning stores, one entry odd or gone."""
    import torch

    saved = torch.load(path, map_location="cpu", weights_only=True)
    said = mutate_tree(saved, rng)
    torch.save(saved, path)
    return f"checkpoint: {said}"
