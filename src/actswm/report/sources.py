"""Runs, results and pictures in files and folders, recognised by what is inside them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..results import Drift, Fidelity, Plan, Recover, Result, read_result
from .films import FilmedPlan, with_films
from .picture_note import PictureNote, read_note
from .training_run import TrainingRun, is_model, is_run, read_run


@dataclass(frozen=True)
class Picture:
    note: PictureNote
    png: bytes


@dataclass(frozen=True)
class Sources:
    """Everything that was found, in the order of the paths, and by name within a folder."""

    runs: tuple[TrainingRun, ...]
    drift: tuple[Drift, ...]
    fidelity: tuple[Fidelity, ...]
    plans: tuple[FilmedPlan, ...]
    recoveries: tuple[Recover, ...]
    pictures: tuple[Picture, ...]


def gather(paths: Sequence[Path]) -> Sources:
    """Folders are searched through and may hold other things too; a file must be one of ours."""
    found: list[Result | FilmedPlan | TrainingRun | Picture] = []
    for path in paths:
        if path.is_dir():
            inside = list(_in_folder(path))
            if not inside:
                raise UserError(f"{path}: holds no training run, no result (--json) and no picture of actswm")
            found += inside
        elif path.is_file():
            one = _in_file(path)
            if one is None:
                raise UserError(
                    f"{path}: not a result of actswm; give run folders, --json files, or PNGs that actswm drew"
                )
            found.append(one)
        else:
            raise UserError(f"{path}: no such file or folder")
    return Sources(
        _unique([one for one in found if isinstance(one, TrainingRun)]),
        _unique([one for one in found if isinstance(one, Drift)]),
        _unique([one for one in found if isinstance(one, Fidelity)]),
        _filmed([one for one in found if isinstance(one, FilmedPlan)]),
        _unique([one for one in found if isinstance(one, Recover)]),
        _unique([one for one in found if isinstance(one, Picture)]),
    )


def _in_folder(folder: Path) -> Iterator[Result | FilmedPlan | TrainingRun | Picture]:
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if is_run(here) or is_model(here):
            yield read_run(here)
            if is_run(here):
                folders[:] = [name for name in folders if name not in ("logs", "model")]
        for name in sorted(files):
            if not name.startswith(".") and (one := _in_file(here / name)):
                yield one


def _in_file(path: Path) -> Result | FilmedPlan | Picture | None:
    if path.suffix.lower() == ".png":
        try:
            png = path.read_bytes()
        except OSError:
            return None
        note = read_note(png)
        return Picture(note, png) if note else None
    if path.suffix.lower() != ".json":
        return None
    result = read_result(path)
    return with_films(result, path.parent) if isinstance(result, Plan) else result


def _unique(found: list[Any]) -> tuple[Any, ...]:
    """A result that is given twice is shown once."""
    return tuple(one for number, one in enumerate(found) if one not in found[:number])


def _filmed(plans: list[FilmedPlan]) -> tuple[FilmedPlan, ...]:
    """The same counts may lie in two files, one of them beside the films."""
    return _unique([max((p for p in plans if p.plan == one.plan), key=lambda p: len(p.films)) for one in plans])
