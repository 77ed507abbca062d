"""Mutations of JSON and YAML: sound syntax, senseless content; and text that no parser should choke on."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from .raw_bytes import mutate_bytes

Rng = np.random.Generator

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 7, 10**6, 2**31, 2**63, 10**30, -(10**30), 10**400, 0.5, -0.0, 1e308, -1e-300,
    float("nan"), float("inf"), "", " ", "0", "-1", "nan", "x", "x" * 5000, "\x00", "\ud800", "\x1b[31mred\x1b[0m",
    "[bold]x[/]", "[/]", "{{ 7 * 7 }}", "<script>alert(1)</script>", "${oc.env:HOME}", "${model}", "???", "../../x",
    "/etc/hostname", "a\nb", "é", [], [[]], [None], {}, {"": {}}, {"x": None}, [1, "2", {}], [0] * 3000,
)  # fmt: skip
TEXTS = (
    "", " ", "null", "true", "0", "-", '"x"', "[]", "{}", "[{}]", "nan", "{", "}", "[" * 100_000, '{"a":' * 50_000,
    "\ufeff{}", "\x00", "&a [*a, *a]", "a: &b [*b]", "!!python/object/apply:os.system [id]", "- a\n b: c", "a: b: c",
    "{a: 1, a: 2}", "1e999", "1" * 5000, "\ud800", "%YAML 9.9\n---\n",
)  # fmt: skip

Place = tuple[Any, ...]


def mutate_tree(tree: Any, rng: Rng) -> str:
    """Change one to three places of a tree of dicts and lists; returns what was done."""
    said = []
    for _ in range(int(rng.integers(1, 4))):
        places = list(_places(tree))
        if not places:
            break
        place = places[int(rng.integers(len(places)))]
        said.append(f"{_CHANGES[int(rng.integers(len(_CHANGES)))](tree, place, rng)} at {_shown(place)}")
    return ", ".join(said)


def _places(tree: Any, above: Place = ()) -> Iterator[Place]:
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(pairs)[:200]:
        yield (*above, key)
        yield from _places(value, (*above, key))


def _parent(tree: Any, place: Place) -> Any:
    for key in place[:-1]:
        tree = tree[key]
    return tree


def _odd(tree: Any, place: Place, rng: Rng) -> str:
    value = ODD[int(rng.integers(len(ODD)))]
    _parent(tree, place)[place[-1]] = copy.deepcopy(value)
    return f"{value!r:.30}"


def _remove(tree: Any, place: Place, rng: Rng) -> str:
    del _parent(tree, place)[place[-1]]
    return "removed"


def _rename(tree: Any, place: Place, rng: Rng) -> str:
    parent = _parent(tree, place)
    if isinstance(parent, dict):
        parent[f"{place[-1]}x"] = parent.pop(place[-1])
    else:
        parent.insert(place[-1], copy.deepcopy(parent[place[-1]]))
    return "renamed or repeated"


def _wrap(tree: Any, place: Place, rng: Rng) -> str:
    parent = _parent(tree, place)
    inner = copy.deepcopy(parent[place[-1]])
    parent[place[-1]] = [[inner], {"x": inner}, str(inner), [inner] * 50][int(rng.integers(4))]
    return "wrapped"


def _scale(tree: Any, place: Place, rng: Rng) -> str:
    """A number a little, or far, off; another value becomes odd."""
    parent = _parent(tree, place)
    value = parent[place[-1]]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _odd(tree, place, rng)
    kind = type(value)
    parent[place[-1]] = kind(
        [-value, value + 1, value - 1, value * 1000, value * 10**9][int(rng.integers(5))]
    )
    return f"{value} -> {parent[place[-1]]}"


_CHANGES: tuple[Callable[[Any, Place, Rng], str], ...] = (
    _odd,
    _odd,
    _odd,
    _scale,
    _scale,
    _remove,
    _rename,
    _wrap,
)


def _shown(place: Place) -> str:
    return ".".join(f"{part!s:.20}" for part in place)


def mutate_json(path: Path, rng: Rng) -> str:
    return _mutate_text(path, rng, json.loads, _dump_json)


def mutate_yaml(path: Path, rng: Rng) -> str:
    return _mutate_text(path, rng, yaml.safe_load, lambda tree: yaml.safe_dump(tree, allow_unicode=False))


def mutate_json_lines(path: Path, rng: Rng) -> str:
    """Some lines of a file of JSON lines."""
    lines = path.read_text().splitlines()
    said = []
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(lines)))
        if rng.random() < 0.3:
            text = TEXTS[int(rng.integers(len(TEXTS)))]
            lines[at] = text.replace("\n", " ")
            said.append(f"text {text!r:.20}")
        else:
            tree = json.loads(lines[at]) if lines[at].startswith("{") and len(lines[at]) < 9000 else {"x": 1}
            said.append(mutate_tree(tree, rng))
            lines[at] = _dump_json(tree)
    _write(path, "\n".join(lines))
    return f"{path.name}: {'; '.join(said)}"


def _mutate_text(path: Path, rng: Rng, load: Callable[[str], Any], dump: Callable[[Any], str]) -> str:
    way = rng.random()
    if way < 0.15:
        return mutate_bytes(path, rng)
    if way < 0.3:
        text = TEXTS[int(rng.integers(len(TEXTS)))]
        _write(path, text)
        return f"{path.name} is {text!r:.30}"
    tree = load(path.read_text())
    said = mutate_tree(tree, rng)
    _write(path, dump(tree))
    return f"{path.name}: {said}"


def _dump_json(tree: Any) -> str:
    return json.dumps(tree)


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
