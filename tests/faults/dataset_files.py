"""Mutations of dataset files: HDF5 that any reader opens, and that breaks one promise of the layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from actswm.data.layout import ATTRIBUTES, EPISODE_COLUMNS, ROW_COLUMNS

from .raw_bytes import mutate_bytes, not_a_file
from .trees import mutate_tree

Rng = np.random.Generator
COLUMNS = (*ROW_COLUMNS, *EPISODE_COLUMNS, "seed", "pose")
NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    255,
    1 << 20,
    2**31 - 1,
    -(2**31),
    2**62,
    1e30,
    -1e30,
    0.5,
    float("nan"),
    float("inf"),
)


def _pick(rng: Rng, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def _column(file: h5py.File, rng: Rng) -> str:
    """Where a file has siblings, often the column that says so."""
    return str(_pick(rng, (*COLUMNS, *("repeats",) * 12) if "repeats" in file else COLUMNS))


def value(file: h5py.File, rng: Rng) -> str:
    """One number of one column."""
    name = _column(file, rng)
    data = file[name]
    place = tuple(int(rng.integers(size)) for size in data.shape)
    with np.errstate(all="ignore"):
        data[place] = number = np.array(_pick(rng, NUMBERS)).astype(data.dtype)
    return f"{name}{list(place)} = {number}"


def stretch(file: h5py.File, rng: Rng) -> str:
    """The first rows of one column, all the same."""
    name = _column(file, rng)
    data, rows = file[name], int(rng.integers(1, 120))
    with np.errstate(all="ignore"):
        data[:rows] = number = np.array(_pick(rng, NUMBERS)).astype(data.dtype)
    return f"{name}[:{rows}] = {number}"


def swap(file: h5py.File, rng: Rng) -> str:
    """Two rows trade places."""
    name = _column(file, rng)
    data = file[name]
    one, other = (int(rng.integers(len(data))) for _ in range(2))
    data[one], data[other] = data[other], data[one]
    return f"{name} rows {one} and {other} swapped"


def resize(file: h5py.File, rng: Rng) -> str:
    """Longer or shorter than the others; sometimes by far (the file stays small)."""
    name = _column(file, rng)
    data = file[name]
    if data.maxshape[0] is not None:
        return retype(file, rng)
    rows = _pick(rng, (0, 1, len(data) - 1, len(data) + 1, 10**6, 2 * 10**8, 10**10))
    data.resize(rows, 0)
    return f"{name} has {rows} rows"


def retype(file: h5py.File, rng: Rng) -> str:
    """Another type, shape or kind of object under the name."""
    name = _column(file, rng)
    rows = len(file[name])
    del file[name]
    options: dict[str, Callable[[], Any]] = {
        "scalar": lambda: 3,
        "null": lambda: h5py.Empty("f4"),
        "texts": lambda: np.array([b"x"] * rows),
        "variable texts": lambda: np.array(["x"] * rows, h5py.string_dtype()),
        "compound": lambda: np.zeros(rows, [("a", "i4"), ("b", "f4")]),
        "float64": lambda: np.zeros(rows),
        "complex": lambda: np.zeros(rows, complex),
        "booleans": lambda: np.zeros(rows, bool),
        "three axes": lambda: np.zeros((rows, 2, 2), np.float32),
        "no width": lambda: np.zeros((rows, 0), np.float32),
        "unsigned": lambda: np.full(rows, 2**64 - 1, np.uint64),
    }
    kind = _pick(rng, list(options))
    file[name] = options[kind]()
    return f"{name} is {kind}"


def reshape(file: h5py.File, rng: Rng) -> str:
    """Shapes that promise far more than is there; HDF5 stores nothing for them."""
    name = _pick(rng, ("pixels", "action", "ep_len", "pose"))
    shape = {
        "pixels": _pick(
            rng, ((2 * 10**8, 32, 32, 3), (480, 10**5, 10**5, 3), (480, 0, 32, 3), (480, 32, 32, 4))
        ),
        "action": _pick(rng, ((10**10, 14), (480, 10**9), (480,), (480, 15), (0, 14))),
        "ep_len": _pick(rng, ((10**6,), (10**10,), (0,), (8, 1))),
        "pose": _pick(rng, ((10**10, 4), (480,), (481, 4))),
    }[name]
    kind = file[name].dtype
    del file[name]
    file.create_dataset(
        name,
        shape,
        kind,
        chunks=tuple(min(64, max(1, size)) for size in shape),
        maxshape=(None,) * len(shape),
    )
    return f"{name} has shape {shape}"


def link(file: h5py.File, rng: Rng) -> str:
    """Links that lead nowhere, in a circle or elsewhere, groups, and names of types."""
    name = _column(file, rng)
    target = _pick(rng, [other for other in COLUMNS if other != name])
    del file[name]
    options: dict[str, Callable[[], Any]] = {
        "a loop": lambda: h5py.SoftLink(f"/{name}"),
        "a dead link": lambda: h5py.SoftLink("/nowhere"),
        "outside": lambda: h5py.ExternalLink("/etc/hostname", "/x"),
        "a type": lambda: np.dtype("f4"),
        "another column": lambda: file[target],
    }
    if rng.random() < 0.2:
        file.create_group(name)
        return f"{name} is a group"
    kind = _pick(rng, list(options))
    file[name] = options[kind]()
    return f"{name} is {kind}"


def remove(file: h5py.File, rng: Rng) -> str:
    name = _column(file, rng)
    del file[name]
    return f"no {name}"


def extra(file: h5py.File, rng: Rng) -> str:
    """A column that nobody knows."""
    options = {
        "short": np.zeros(3), "scalar": 1, "objects": np.array(["x"] * 480, h5py.string_dtype()),
        "large": np.zeros((480, 50)), "compound": np.zeros(480, [("a", "i4")]),
    }  # fmt: skip
    kind = _pick(rng, list(options))
    file[_pick(rng, ("confidence", "timestamp_ns", "x", "video", "é"))] = options[kind]
    return f"extra column: {kind}"


def attribute(file: h5py.File, rng: Rng) -> str:
    """One attribute of the file, odd or gone."""
    name = _pick(rng, ATTRIBUTES)
    if rng.random() < 0.2:
        del file.attrs[name]
        return f"no attribute {name}"
    options: tuple[Any, ...] = (
        0, -1, 1e-300, float("nan"), float("inf"), 2**60, "", "x", "x" * 3000, "\x1b[31mred", "[bold]x[/]", b"\xff\xfe",
        h5py.Empty("f4"), np.zeros(3), np.array(["a", "b"], h5py.string_dtype()), np.zeros((2, 2)), "[" * 20_000,
        "null", '{"effective": 3}', '{"pose": null, "seed": "x"}', np.zeros(1, [("a", "i4")]),
    )  # fmt: skip
    chosen = _pick(rng, options)
    file.attrs[name] = chosen
    return f"attribute {name} = {chosen!r:.40}"


def inner_attributes(file: h5py.File, rng: Rng) -> str:
    """The JSON that the file carries about its origin."""
    import json

    tree = json.loads(str(file.attrs["attributes"]))
    said = mutate_tree(tree, rng)
    file.attrs["attributes"] = json.dumps(tree)[:60_000]
    return f"attributes: {said}"


def column_attribute(file: h5py.File, rng: Rng) -> str:
    """A dataset made anew with filters and odd fill values: legal HDF5."""
    name = _pick(rng, ROW_COLUMNS[1:])
    data = file[name][:]
    del file[name]
    file.create_dataset(
        name, data=data, compression=_pick(rng, ("gzip", "lzf")), shuffle=True, fletcher32=True
    )
    return f"{name} compressed"


CHANGES = (
    value, value, value, stretch, stretch, swap, resize, retype, retype, reshape, link, remove, extra, attribute,
    attribute, inner_attributes, column_attribute,
)  # fmt: skip


def mutate_dataset(path: Path, rng: Rng) -> str:
    """Change a dataset file in place, structurally or byte by byte."""
    way = rng.random()
    if way < 0.03:
        return not_a_file(path, rng)
    if way < 0.25:
        return mutate_bytes(path, rng)
    said = []
    for _ in range(1 if rng.random() < 0.75 else 2):
        with h5py.File(path, "r+") as file:
            try:
                said.append(_pick(rng, CHANGES)(file, rng))
            except (KeyError, TypeError, ValueError, OSError, IndexError, AttributeError) as error:
                said.append(
                    f"(no second change: {type(error).__name__})"
                )  # the first one took its object away
    return ", ".join(said)
