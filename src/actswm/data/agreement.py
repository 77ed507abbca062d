"""What several dataset files are together. They must agree on all that a row means."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import UserError
from .dataset import Dataset
from .layout import DatasetSpec

_MOST_BYTES = 32_000
"""HDF5 attributes hold 64 KB; of files that say more about themselves only the number is kept."""


@dataclass(frozen=True)
class Member:
    """A file as the others see it."""

    path: Path
    spec: DatasetSpec
    episodes: int


def spec_of(file: Dataset) -> DatasetSpec:
    return DatasetSpec(
        vocabulary=file.vocabulary,
        height=file.height,
        width=file.width,
        fps=file.fps,
        source=file.source,
        action_origin=file.action_origin,
        attributes=file.attributes,
        columns=file.columns,
    )


def require_agreement(members: Sequence[Member]) -> None:
    """Sources may differ, what a row means may not."""
    first = members[0]
    specs = {id(member.spec): member for member in reversed(members)}  # shards of one recording share theirs
    for member in specs.values():
        one, other = first.spec, member.spec
        for what, wanted, found in (
            ("vocabulary", one.vocabulary.spelling, other.vocabulary.spelling),
            ("frame size", f"{one.width}x{one.height}", f"{other.width}x{other.height}"),
            ("frame rate", f"{one.fps:g}", f"{other.fps:g}"),
            ("origin of actions", one.action_origin, other.action_origin),
        ):
            if found != wanted:
                raise UserError(f"{member.path}: its {what} is {found}, but {first.path} has {wanted}")


def merged_spec(members: Sequence[Member]) -> DatasetSpec:
    """Extra columns are kept where all have them, but for seeds: they mean nothing without the settings of their
    recording."""
    require_agreement(members)
    first = members[0].spec
    specs = list({id(member.spec): member.spec for member in members}.values())
    parts = [
        {"source": m.spec.source, "episodes": m.episodes, "attributes": dict(m.spec.attributes)} for m in members
    ]
    shared = {
        name: column
        for name, column in first.columns.items()
        if name != "seed" and all(spec.columns.get(name) == column for spec in specs)
    }
    fits = len(json.dumps(parts)) < _MOST_BYTES
    return replace(
        first,
        source=" + ".join(dict.fromkeys(spec.source for spec in specs)),
        attributes={"merged": parts if fits else len(members)},
        columns=shared,
        compression=None,
    )


def shared_spec(members: Sequence[Member]) -> DatasetSpec:
    """The same for shards, which stay what they are: those of one recording keep its settings, and its seeds."""
    first = members[0].spec
    if all(member.spec is first or member.spec == first for member in members):
        return first
    return merged_spec(members)
