"""What is put into a table: result files, and under which names their rows are published.

Beside the folders of results lies `rows.json`: for the files of a folder, or under `common` for all, the names of
models and methods with their labels, in the order of the table; under `folders` what the folders are called; under
`paper` the figures that the paper has for a row. A name without a label is not published; without the file
everything is, under its own name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ...errors import UserError
from ...json_files import read_json
from ...results import Result, read_result

T = TypeVar("T")
R = TypeVar("R", bound=Result)


@dataclass(frozen=True)
class Source:
    path: Path
    result: Result

    @property
    def folder(self) -> str:
        return self.path.resolve().parent.name


@dataclass(frozen=True)
class Names:
    tree: Mapping[str, Any]

    def folder(self, name: str) -> str:
        return str(self.tree.get("folders", {}).get(name, name))

    def folder_of(self, game: str) -> str:
        """`openarena` -> `openarena-oa_dm1`."""
        return next((name for name in self.tree.get("folders", {}) if name.split("-")[0] == game), game)

    def paper(self) -> Mapping[str, Sequence[float]]:
        found: Mapping[str, Sequence[float]] = self.tree.get("paper", {})
        return found

    def ordered(
        self, found: Mapping[str, T], folder: str = "common", only: Sequence[str] = ()
    ) -> list[tuple[str, T]]:
        """What was found under each name -> label and what was found, in the order of publication."""
        labels = self.tree.get(folder, self.tree.get("common", {name: name for name in found}))
        chosen = [name for name in only or labels if name in found]
        if not chosen:
            raise UserError(f"no row of the table is among {', '.join(found)}")
        return [(str(labels.get(name, name)), found[name]) for name in chosen]


def read_sources(paths: Sequence[Path]) -> tuple[list[Source], Names]:
    sources = []
    for path in paths:
        if (result := read_result(path)) is None:
            raise UserError(f"{path}: holds no result of actswm")
        sources.append(Source(path, result))
    return sources, _read_names(paths[0].resolve().parent.parent / "rows.json")


def _read_names(path: Path) -> Names:
    try:
        tree = read_json(path)
    except FileNotFoundError:
        return Names({})
    except ValueError as error:
        raise UserError(f"{path}: is not JSON ({error})") from None
    for part, entries in (tree if isinstance(tree, dict) else {"it": tree}).items():
        fits, kind = (_is_figures, "lists of figures") if part == "paper" else (_is_text, "labels")
        if not isinstance(entries, dict) or not all(map(fits, entries.values())):
            raise UserError(f"{path}: {part} is no object of names and {kind}")
    return Names(tree)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_figures(value: object) -> bool:
    return isinstance(value, list) and all(type(each) in (int, float) and -1e9 < each < 1e9 for each in value)


def of_kind(sources: Iterable[Source], kind: type[R]) -> list[tuple[Source, R]]:
    found: list[tuple[Source, R]] = []
    for source in sources:
        if not isinstance(source.result, kind):
            raise UserError(f"{source.path}: this table is made of {kind.__name__.lower()} results")
        found.append((source, source.result))
    return found


def own_name(name: str) -> str:
    """`freedoom-maze/actswm` -> `actswm`."""
    return name.rsplit("/", 1)[-1]
