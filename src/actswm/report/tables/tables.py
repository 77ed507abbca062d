"""The tables that there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .diagnosis import bound_table, drift_table, fidelity_table, paper_table, pose_table, seeds_table
from .inverse_dynamics import controls_table, foreign_table, games_table, idm_table
from .plans import plan_table
from .recovery import recover_table
from .rows import Names, Source, read_sources

TABLES: Mapping[str, Callable[[Sequence[Source], Names, Sequence[str]], str]] = {
    "drift": drift_table,
    "paper": paper_table,
    "bound": bound_table,
    "fidelity": fidelity_table,
    "pose": pose_table,
    "seeds": seeds_table,
    "plan": plan_table,
    "recover": recover_table,
    "idm": idm_table,
    "idm-controls": controls_table,
    "idm-games": games_table,
    "idm-foreign": foreign_table,
}


def table_of(kind: str, files: Sequence[Path], only: Sequence[str] = ()) -> str:
    sources, names = read_sources(files)
    return TABLES[kind](sources, names, only)
