"""Chunk libraries: the named composite actions among which a planner chooses, with their prior weights.

A library is a YAML file, one of ours by name ("minecraft/mine-stone") or anyone's by path:

    vocabulary: minecraft
    chunks:
      - {name: look down, weight: 0.4, hold: {pitch: 8}}     # the same action in all 4 raw steps
      - name: place below
        weight: 0.6
        steps: [{pitch: 45}, {pitch: 45}, {jump: 1}, {use: 1}]
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from ..controls import Vocabulary, vocabulary_of
from ..errors import UserError

RAW_STEPS = 4
"""Raw steps in a chunk: one model step at the usual frameskip."""
_MOST = 1e6
"""Of a control's value; no number (NaN) is not below it either."""



@dataclass(frozen=True)
class Chunk:
    """One choice of the planner: raw actions (RAW_STEPS, A) and the prior probability to be sampled."""

    name: str
    weight: float
    steps: NDArray[np.float32]


@dataclass(frozen=True)
class ChunkLibrary:
    """The chunks of a task, over one vocabulary; weights sum to 1."""

    name: str
    vocabulary: Vocabulary
    chunks: tuple[Chunk, ...]

    def __len__(self) -> int:
        return len(self.chunks)

    def __getitem__(self, name: str) -> Chunk:
        for chunk in self.chunks:
            if chunk.name == name:
                return chunk
        raise UserError(f"library {self.name!r} has no chunk {name!r}; it has: {', '.join(self.names)}")

    def draw(self, rng: np.random.Generator) -> Chunk:
        """A chunk by prior weight."""
        return self.chunks[int(rng.choice(len(self.chunks), p=self.weights))]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(chunk.name for chunk in self.chunks)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """(C,) prior probabilities, exactly normalised."""
        weights = np.array([chunk.weight for chunk in self.chunks], np.float64)
        return weights / weights.sum()

    @cached_property
    def steps(self) -> NDArray[np.float32]:
        """(C, RAW_STEPS, A) raw actions."""
        return np.stack([chunk.steps for chunk in self.chunks])


def library_names() -> tuple[str, ...]:
    """The libraries that come with the project: "<vocabulary>/<task>"."""
    folders = [folder for folder in _root().iterdir() if folder.is_dir()]
    return tuple(
        sorted(
            f"{folder.name}/{file.name.removesuffix('.yaml')}"
            for folder in folders
            for file in folder.iterdir()
            if file.name.endswith(".yaml")
        )
    )


def load_library(name: str | os.PathLike[str]) -> ChunkLibrary:
    """A library of ours by name, or a YAML file by path; a wrong file is an error that names file and chunk."""
    text = str(name)
    if text in library_names():
        return _parse(text, f"{text}.yaml", _root().joinpath(f"{text}.yaml").read_text())
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        nearest = difflib.get_close_matches(text, library_names(), n=1, cutoff=0.0)[0]
        raise UserError(f"unknown chunk library {text!r}; the nearest known one is {nearest!r}")
    if not path.is_file():
        raise UserError(f"{path}: no such chunk library file")
    try:
        return _parse(path.stem, str(path), path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as text ({error})") from None


def _root() -> Any:
    return resources.files(__package__)


def _parse(name: str, file: str, text: str) -> ChunkLibrary:
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # dates that are none, endless nesting
        raise UserError(f"{file}: not YAML: {error}") from None
    if (
        not isinstance(data, dict)
        or set(data) != {"vocabulary", "chunks"}
        or not isinstance(data["chunks"], list)
    ):
        raise UserError(f"{file}: a chunk library has exactly the fields vocabulary and chunks (a list)")
    try:
        vocabulary = vocabulary_of(str(data["vocabulary"]))
    except UserError as error:
        raise UserError(f"{file}: {error}") from None
    chunks = tuple(_chunk(file, number, entry, vocabulary) for number, entry in enumerate(data["chunks"], 1))
    names = [chunk.name for chunk in chunks]
    for chunk_name in names:
        if names.count(chunk_name) > 1:
            raise UserError(f"{file}: chunk {chunk_name!r} appears more than once")
    total = sum(chunk.weight for chunk in chunks)
    if abs(total - 1) > 1e-6:
        listed = ", ".join(f"{chunk.name} {chunk.weight:g}" for chunk in chunks)
        raise UserError(f"{file}: the weights must sum to 1, not {total:g} ({listed})")
    return ChunkLibrary(name, vocabulary, chunks)


def _chunk(file: str, number: int, entry: Any, vocabulary: Vocabulary) -> Chunk:
    where = f"{file}: chunk {number}"
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise UserError(f"{where}: needs a name")
    where = f"{file}: chunk {entry['name']!r}"
    if set(entry) not in ({"name", "weight", "hold"}, {"name", "weight", "steps"}):
        raise UserError(f"{where}: has the fields {', '.join(map(str, entry))}; use name, weight, and hold or steps")
    weight = entry["weight"]
    if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 < weight <= 1:
        raise UserError(f"{where}: weight must be a number above 0 and at most 1, not {weight!r}")
    steps = [entry["hold"]] * RAW_STEPS if "hold" in entry else entry["steps"]
    if not isinstance(steps, list) or len(steps) != RAW_STEPS:
        found = len(steps) if isinstance(steps, list) else repr(steps)
        raise UserError(f"{where}: needs {RAW_STEPS} raw steps, not {found}")
    return Chunk(entry["name"], float(weight), np.stack([_action(where, step, vocabulary) for step in steps]))


def _action(where: str, step: Any, vocabulary: Vocabulary) -> NDArray[np.float32]:
    if not isinstance(step, Mapping):
        raise UserError(f"{where}: a raw step maps controls to values, such as {{W: 1}}, not {step!r}")
    for control, value in step.items():
        if control not in vocabulary.names:
            nearest = difflib.get_close_matches(str(control), vocabulary.names, n=1, cutoff=0.0)[0]
            raise UserError(
                f"{where}: unknown control {control!r}; the nearest of {vocabulary.name} is {nearest!r}"
            )
        binary = vocabulary.binary[vocabulary.index(control)]
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _MOST:
            raise UserError(f"{where}: {control} must be a number, not {value!r}")
        if binary and value not in (0, 1):
            raise UserError(f"{where}: {control} is a button: 0 or 1, not {value!r}")
    return vocabulary.action(values=step)
