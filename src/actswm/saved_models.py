"""Where saved models are, and what they say of themselves: all that can be known of one without loading it."""

from __future__ import annotations

import difflib
import json
import math
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from .errors import UserError
from .hub import fetched, may_be_on_hub
from .json_files import read_json

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
CARD_FILE = "README.md"
FILES = (CONFIG_FILE, WEIGHTS_FILE, "decoder.safetensors", CARD_FILE)
"""All that there may be of a model."""
SHIPPED = Path(__file__).parent / "weights"
"""Weights that come with the package: <data>/<variant>."""
T = TypeVar("T")
SHIPPED_LICENCE = "MIT"
"""What `weights/LICENSE` grants."""
_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
_LARGEST_HEADER = 2**24
"""Bytes; a header of a model of ours has some thousands."""


@dataclass(frozen=True)
class ModelSummary:
    """What a saved model says of itself; None where it does not."""

    name: str
    game: str | None
    parameters: int
    megabytes: float
    image_size: int | None
    steps: int | None
    scores: dict[str, float]
    """Validation at the end of its training: `drift_gap`, `shuffled_gap`, `above_copy` among others."""
    licence: str | None


def locate(model: str | os.PathLike[str]) -> Path:
    """The folder that holds a model: the folder itself, a run's `model`, shipped weights by name, or, if the name is
    none of these, what a repository of the Hugging Face hub holds."""
    folder, name = Path(model), str(model)
    for candidate in (folder, folder / "model", SHIPPED / folder):
        if (candidate / CONFIG_FILE).is_file():
            return candidate
    told = f"{folder}: not a saved model (no {CONFIG_FILE}){_hint(name)}"
    if not may_be_on_hub(name) or (SHIPPED / folder.parent).is_dir():
        raise UserError(told)
    try:
        return fetched(name, FILES[:2], FILES[2:])
    except UserError as error:
        raise UserError(f"{told}; {error}") from None


def _hint(name: str) -> str:
    """The shipped models that a name may have meant, by their whole names or by the part after the data."""
    names = shipped_names()
    near = difflib.get_close_matches(name, names, 2, 0.7)
    if not near:
        variants = difflib.get_close_matches(
            name.rsplit("/", 1)[-1], {each.split("/")[1] for each in names}, 1, 0.6
        )
        near = [each for each in names if each.split("/")[1] in variants]
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}? `actswm models` lists all"
    return f", and not one that ships: {', '.join(names)}"


def shipped_names() -> list[str]:
    return sorted(str(path.parent.relative_to(SHIPPED)) for path in SHIPPED.glob(f"*/*/{CONFIG_FILE}"))


def read_config(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """`config.json`: model, control names and provenance."""
    path = locate(directory) / CONFIG_FILE
    try:
        content = read_json(path)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON ({error})") from None
    for key, kind in (("model", dict), ("control_names", list), ("provenance", dict)):
        if not isinstance(content, dict) or not isinstance(content.get(key), kind):
            raise UserError(f"{path}: has no {key!r}; it was not written by actswm")
    return content


def game_of(source: str) -> str:
    """The name of what a dataset was recorded from; a merged one is of several games."""
    first, *others = source.split(" + ")
    return f"{first} and {len(others)} more" if others else first


def summary(model: str | os.PathLike[str]) -> ModelSummary:
    """Read from `config.json` and from the header of the weights: nothing is loaded."""
    folder = locate(model)
    content = read_config(folder)
    provenance = content["provenance"]
    data = provenance.get("data")
    scores = provenance.get("validation")
    source = _of(str, data.get("source")) if isinstance(data, dict) else None
    shipped = folder.resolve().is_relative_to(SHIPPED.resolve())
    return ModelSummary(
        name=folder.resolve().relative_to(SHIPPED.resolve()).as_posix() if shipped else str(model),
        game=game_of(source) if source else None,
        parameters=_count_parameters(folder / WEIGHTS_FILE),
        megabytes=(folder / WEIGHTS_FILE).stat().st_size / 1e6,
        image_size=_of(int, content["model"].get("image_size")),
        steps=_of(int, provenance.get("steps")),
        scores={key: float(value) for key, value in scores.items() if isinstance(value, int | float)}
        if isinstance(scores, dict)
        else {},
        licence=_of(str, provenance.get("licence")) or (SHIPPED_LICENCE if shipped else None),
    )


def _of(kind: type[T], value: Any) -> T | None:
    return value if isinstance(value, kind) else None


def _count_parameters(weights: Path) -> int:
    """Values of the tensors but for BatchNorm's running statistics, from the header of a safetensors file."""
    try:
        with weights.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length)) if length < _LARGEST_HEADER else {}
        if not header:
            raise ValueError("it names no tensors")
        return sum(
            math.prod(tensor["shape"])
            for name, tensor in header.items()
            if name != "__metadata__" and name.rsplit(".", 1)[-1] not in _STATISTICS
        )
    except (OSError, struct.error, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{weights}: is no safetensors file ({error}); copy it again") from None
