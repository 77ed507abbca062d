"""What names a dataset: a file, a folder of shards, a glob, or several of these with commas between them.

Each may lie elsewhere, under s3:// or hf://; its files are then those that `remote` keeps here.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from .errors import UserError
from .remote import Told, fetched, is_remote

ENDING = ".h5"
AnyDataset = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def dataset_path(given: AnyDataset) -> Path:
    """One path for all that names a dataset; a list is joined by commas."""
    if isinstance(given, str | os.PathLike):
        return Path(given)
    names = [os.fspath(each) for each in given]
    for name in names:
        if "," in name:
            raise UserError(f"{name}: has a comma in its name; rename it, or name its folder")
    return Path(",".join(names))


def is_one_file(dataset: Path) -> bool:
    return dataset.is_file()


def shard_files(dataset: Path, told: Told | None = None) -> list[Path]:
    """The files of a dataset in the order of their episodes: as listed; by name in a folder or a glob.

    `told` hears what is fetched on the way.
    """
    if dataset.is_file():
        return [dataset]
    names = [str(dataset)] if dataset.is_dir() else [name for name in str(dataset).split(",") if name]
    found = [file for name in names for file in _files_of(Path(name), told)]
    seen: set[Path] = set()
    for file in found:
        if file in seen:
            raise UserError(f"{dataset}: names {file} twice")
        seen.add(file)
    if not found:
        raise UserError(f"{dataset}: no such dataset file")
    return found


def _files_of(path: Path, told: Told | None = None) -> list[Path]:
    if is_remote(path):
        return list(fetched(str(path), ENDING, told))
    if path.is_dir():
        names = (name for name in os.listdir(path) if name.endswith(ENDING) and not name.startswith("."))
        files = [path / name for name in sorted(names)]
        if not files:
            raise UserError(f"{path}: there is no dataset file (*{ENDING}) in this folder")
        return files
    if path.is_file():
        return [path]
    if glob.has_magic(str(path)):
        matched = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]
        if not matched:
            raise UserError(f"{path}: no file is called so")
        return [file for each in matched for file in _files_of(each)]
    raise UserError(f"{path}: no such dataset file")


def home(dataset: Path) -> Path:
    """A file or folder beside which to keep what belongs to the dataset."""
    return dataset if dataset.exists() else shard_files(dataset)[0].parent.absolute()


def label(dataset: Path) -> str:
    """How tables and pictures call it."""
    if dataset.exists():
        return dataset.name or dataset.absolute().name
    return ",".join(Path(name).name for name in str(dataset).split(",") if name)


def absolute(dataset: Path) -> Path:
    """The same dataset for a process that works elsewhere."""
    if dataset.exists():
        return dataset.resolve()
    names = [name for name in str(dataset).split(",") if name]
    return Path(",".join(name if is_remote(name) else str(Path(name).absolute()) for name in names))
