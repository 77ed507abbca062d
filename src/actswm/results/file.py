"""Results as JSON files: the kind and the version of each, and how older ones are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..json_files import read_json, write_json
from .drift import Drift
from .fidelity import Fidelity
from .form import decode, encode
from .idm_score import IdmScore
from .plan import Plan
from .recover import Recover

VERSION = 2
"""1, without a number in the file: the seed of a recovery stood among its options."""
Result = Drift | Fidelity | Plan | Recover | IdmScore
KINDS: Mapping[str, type[Result]] = {
    "drift": Drift,
    "fidelity": Fidelity,
    "plan": Plan,
    "recover": Recover,
    "idm-score": IdmScore,
}


def result_tree(result: Result) -> dict[str, Any]:
    """What stands in a result's file."""
    (kind,) = (name for name, each in KINDS.items() if each is type(result))
    return {"kind": kind, "version": VERSION, **encode(result)}


def save_result(path: Path, result: Result) -> None:
    write_json(path, result_tree(result))


def read_result(path: Path) -> Result | None:
    """None for a file that holds no result of ours."""
    try:
        tree: Any = read_json(path)
    except (ValueError, RecursionError):
        return None
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    if not isinstance(tree, dict) or str(tree.get("kind")) not in KINDS:
        return None
    kind = tree["kind"]
    try:
        return decode(KINDS[kind], _present(tree))
    except KeyError as error:
        fault = f"has no field {error}"
    except (TypeError, ValueError) as error:
        fault = f"is damaged ({error})"
    raise UserError(f"{path}: this {kind} result {fault}; write it again with actswm {kind}")


def _present(tree: dict[str, Any]) -> dict[str, Any]:
    """A tree of any version in the form of the present one."""
    version = tree.get("version", 1)
    if version not in range(1, VERSION + 1):
        raise ValueError(f"its version is {str(version)[:20]}, and this actswm knows {VERSION} and older ones")
    if version == 1 and tree["kind"] == "recover":
        options, costs = tree["options"], tree["costs"]
        if not isinstance(options, dict) or not isinstance(costs, dict):
            raise TypeError("options and costs are not objects")
        for cost in filter(lambda each: isinstance(each, dict), costs.values()):
            cost.setdefault("mean_gain", cost.get("mean_confidence"))
        return {"seed": options.get("seed"), **tree}
    return tree
