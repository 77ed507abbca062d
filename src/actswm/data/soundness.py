"""What an HDF5 file must be before a column of it is read: kinds, shapes and attributes, each compared with the others.

A file from elsewhere may claim anything (ten milliard rows, a link to itself), so nothing here costs more than its
metadata.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..controls import Vocabulary, vocabulary_of
from ..errors import UserError
from .layout import ATTRIBUTES, EPISODE_COLUMNS, FORMAT_VERSION, ROW_COLUMNS

LONGEST_SIDE = 8192
"""Pixels of a frame's height or width."""
LARGEST_ENTRY = 2**20
"""Bytes of one row in an extra column."""
DENSEST = 2000
"""A column that says more than this many times the bytes that are stored for it was never written."""
NOTICEABLE = 2**24
"""Bytes below which a column may say what it likes."""


@contextmanager
def damage_told(path: Path, what: str) -> Iterator[None]:
    """h5py raises half a dozen kinds of errors over a damaged file."""
    try:
        yield
    except (OSError, RuntimeError, ValueError, TypeError, KeyError, AttributeError, MemoryError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise UserError(f"{path}: {what!r} cannot be read ({reason}); the file is damaged") from None


@dataclass(frozen=True)
class Attributes:
    fps: float
    source: str
    action_origin: str
    vocabulary: Vocabulary
    attributes: dict[str, Any]


def read_attributes(path: Path, file: h5py.File) -> Attributes:
    values: dict[str, Any] = {}
    for name in ATTRIBUTES:
        if name not in file.attrs:
            raise UserError(f"{path}: has no attribute {name!r}; it was not written by actswm")
        with damage_told(path, f"attribute {name}"):
            values[name] = file.attrs[name]
    version, fps = _number(path, values, "format_version"), _number(path, values, "fps")
    if version > FORMAT_VERSION:
        raise UserError(f"{path}: format version {version:g} is newer than {FORMAT_VERSION}; update actswm")
    if version != FORMAT_VERSION:
        raise UserError(f"{path}: format version {version:g} is unknown; record or clean it again")
    if not 0 < fps < math.inf:
        raise UserError(f"{path}: fps is {fps:g}, not a number of frames a second; write the file again")
    names = np.asarray(values["control_names"])
    if names.ndim != 1 or not all(isinstance(name, str) and _encodable(name) for name in names.tolist()):
        raise UserError(f"{path}: control_names is no list of names")
    try:
        vocabulary = vocabulary_of(_text(path, values, "vocabulary"), names.tolist())
    except UserError as error:
        message = str(error)
        raise UserError(message if message.startswith(str(path)) else f"{path}: {message}") from None
    try:
        more = json.loads(_text(path, values, "attributes"))
    except (ValueError, RecursionError):
        more = None
    if not isinstance(more, dict):
        raise UserError(f"{path}: attribute 'attributes' is no JSON object")
    origin = _text(path, values, "action_origin")
    return Attributes(fps, _text(path, values, "source"), origin, vocabulary, more)


def _text(path: Path, values: dict[str, Any], name: str) -> str:
    if not isinstance(values[name], str):
        raise UserError(f"{path}: attribute {name!r} is {type(values[name]).__name__}, not text")
    if not _encodable(values[name]):
        raise UserError(f"{path}: attribute {name!r} is not text in UTF-8")
    return values[name]


def _encodable(text: str) -> bool:
    """h5py hands over bytes that are no UTF-8 as surrogates, which fail wherever they are written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _number(path: Path, values: dict[str, Any], name: str) -> float:
    value = np.asarray(values[name])
    if value.shape != () or value.dtype.kind not in "iuf":
        raise UserError(f"{path}: attribute {name!r} is no number")
    return float(value)


def check_shapes(path: Path, file: h5py.File, controls: int) -> None:
    """Refuse columns that are no plain arrays, or whose shapes contradict each other."""
    columns = {name: _dataset(path, file, name) for name in file}
    pixels = columns["pixels"]
    if pixels.ndim != 4 or pixels.shape[-1] != 3 or pixels.dtype != np.uint8:
        raise UserError(f"{path}: pixels are {pixels.dtype} {pixels.shape}, not uint8 (N, h, w, 3)")
    if not all(1 <= side <= LONGEST_SIDE for side in pixels.shape[1:3]):
        raise UserError(f"{path}: frames of {pixels.shape[2]}x{pixels.shape[1]} pixels are no frames")
    rows, episodes = pixels.shape[0], columns["ep_len"].shape[0]
    for name, column in columns.items():
        expected = episodes if name in EPISODE_COLUMNS else rows
        if column.shape[0] != expected:
            other = "ep_len" if name in EPISODE_COLUMNS else "pixels"
            raise UserError(f"{path}: {name} has {column.shape[0]} rows, {other} {expected}")
        if name == "action":
            if column.shape[1:] != (controls,) or column.dtype.kind not in "biuf":
                raise UserError(
                    f"{path}: action is {column.dtype} {column.shape}, not numbers ({rows}, {controls})"
                )
        elif name in (*ROW_COLUMNS[2:], *EPISODE_COLUMNS) and (
            column.ndim != 1 or column.dtype.kind not in "biu"
        ):
            raise UserError(f"{path}: {name} is {column.dtype} {column.shape}, not whole numbers")
        if name != "pixels":
            _check_size(path, name, column)
    if episodes > rows:
        raise UserError(f"{path}: ep_len names {episodes} episodes, but there are only {rows} rows")


def _dataset(path: Path, file: h5py.File, name: str) -> h5py.Dataset:
    """An array of numbers or short texts that lies in this very file."""
    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise UserError(f"{path}: {name!r} is a link to elsewhere; copy the data into the file")
    column = file[name]
    if not isinstance(column, h5py.Dataset):
        raise UserError(f"{path}: {name!r} is a {type(column).__name__.lower()}, not an array")
    if column.shape is None or column.ndim == 0 or column.dtype.kind not in "biufS":
        raise UserError(f"{path}: {name!r} is no plain array with a row for each step or episode")
    if column.external or column.is_virtual:
        raise UserError(f"{path}: {name!r} lies in other files; copy the data into the file")
    return column


def _check_size(path: Path, name: str, column: h5py.Dataset) -> None:
    entry = math.prod(column.shape[1:]) * column.dtype.itemsize
    if entry > LARGEST_ENTRY:
        raise UserError(f"{path}: {name!r} has {entry:,} bytes a row; keep large data in another file")
    said, stored = entry * column.shape[0], column.id.get_storage_size()
    if said > max(NOTICEABLE, DENSEST * stored):
        raise UserError(f"{path}: {name!r} has {column.shape[0]:,} rows, but most were never written")
