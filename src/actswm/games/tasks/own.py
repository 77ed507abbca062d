"""Tasks that other people bring: a `Task` by import path (`my_module:TASK`), or a YAML file:

    name: rover/beacon
    game: rover.py:Rover               # as `actswm record` takes it; files are sought beside this one
    options: {}                        # of the game; may be left out
    library: chunks.yaml               # beside this file, or one of ours
    budget: 16                         # replans, and chunks, in an episode
    starts: {first: 1, count: 20}      # reset seeds; or a list of seeds
    reference: 0                       # seed of the expert's run that all follow; or `own`: each start has its own
    success: {event: beacon, telemetry: {x: [3, 5]}}   # in an info so far; in the last one
    expert: rover.py:Expert            # Expert(start).act(frame, info) -> action; or a list of chunks to play
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from ...chunks import ChunkLibrary, library_names, load_library
from ...errors import UserError
from ...game import Frame, Info, Policy, Start
from ...task import Task
from ..own import load_object, others_code

FIELDS = {"name", "game", "library", "budget", "starts", "reference", "success", "expert"}
MOST_STARTS = 10_000


def is_own_task(name: str) -> bool:
    """A task file, or an import path at which there is a task."""
    if name.endswith((".yaml", ".yml")):
        return True
    return ":" in name and not name.startswith("gym:") and isinstance(load_object(name), Task)


def own_task(name: str) -> Task:
    """The task in a file or at an import path; what is wrong with it is told with its field."""
    if name.endswith((".yaml", ".yml")):
        return _from_file(Path(name))
    task = load_object(name)
    if not isinstance(task, Task):
        raise UserError(f"{name}: is {type(task).__name__}, not an actswm.task.Task")
    return task


def _from_file(path: Path) -> Task:
    try:
        data = yaml.safe_load(path.read_text())
    except OSError as error:
        raise UserError(f"{path}: no such task file ({error.strerror})") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: not YAML: {error}") from None
    if not isinstance(data, dict) or not FIELDS <= set(data) <= FIELDS | {"options"}:
        wanted = ", ".join(sorted(FIELDS))
        raise UserError(f"{path}: a task has the fields {wanted}, and may have options")
    name, budget, options = data["name"], data["budget"], data.get("options") or {}
    if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        raise UserError(f"{path}: name is family/task, such as rover/beacon, not {name!r}")
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise UserError(f"{path}: budget is a number of chunks, not {budget!r}")
    if not isinstance(options, dict):
        raise UserError(f"{path}: options maps the game's options to values, not {options!r}")
    library_name = _beside(path, _text(path, data, "library"))
    library = load_library(library_name)
    seeds = _seeds(path, data["starts"])
    own = data["reference"] == "own"
    reference = 2**32 - 1 if own else _seed(path, "reference", data["reference"])
    if reference in seeds:
        raise UserError(f"{path}: reference {reference} is one of the starts that are judged; choose another seed")
    return Task(
        name=name,
        game=_beside(path, _text(path, data, "game")),
        game_options=options,
        vocabulary=library.vocabulary,
        library=library_name,
        plan_budget=budget,
        env_budget=budget,
        mask="none",
        starts=tuple({"seed": seed} for seed in seeds),
        reference_start={"seed": reference},
        succeeded=_success(path, data["success"]),
        expert=_expert(path, data["expert"], library),
        own_references=own,
        draw_start=lambda seed: {"seed": seed},
    )


def _text(path: Path, data: Mapping[str, Any], field: str) -> str:
    if not isinstance(data[field], str):
        raise UserError(f"{path}: {field} is a name, not {data[field]!r}")
    return data[field]


def _beside(path: Path, name: str) -> str:
    """A file is one beside the task file, wherever the command is run."""
    if name in library_names():
        return name
    file, colon, attribute = name.partition(":")
    if file.endswith((".py", ".yaml", ".yml")) and not Path(file).is_absolute():
        return f"{path.parent / file}{colon}{attribute}"
    return name


def _seed(path: Path, field: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**32:
        raise UserError(f"{path}: {field} holds reset seeds (0 to {2**32 - 1}), not {value!r}")
    return value


def _seeds(path: Path, starts: Any) -> list[int]:
    if isinstance(starts, dict) and set(starts) == {"first", "count"}:
        first, count = _seed(path, "starts", starts["first"]), _seed(path, "starts", starts["count"])
        starts = list(range(first, first + min(count, MOST_STARTS + 1)))
    if not isinstance(starts, list) or not 1 <= len(starts) <= MOST_STARTS:
        raise UserError(f"{path}: starts is a list of seeds, or first and count, not {str(starts)[:80]}")
    seeds = [_seed(path, "starts", seed) for seed in starts]
    if len(set(seeds)) != len(seeds):
        raise UserError(f"{path}: starts names a seed twice")
    return seeds


def _success(path: Path, rule: Any) -> Callable[[Sequence[Info]], bool]:
    if not isinstance(rule, dict) or not rule or not set(rule) <= {"event", "telemetry"}:
        raise UserError(f"{path}: success has an event's name, ranges of telemetry, or both, not {rule!r}")
    event, ranges = rule.get("event"), rule.get("telemetry", {})
    if "event" in rule and not isinstance(event, str):
        raise UserError(f"{path}: success.event is a name, not {event!r}")
    if not isinstance(ranges, dict) or not all(_is_range(each) for each in ranges.values()):
        raise UserError(f"{path}: success.telemetry maps names to [low, high], not {ranges!r}")

    def succeeded(infos: Sequence[Info]) -> bool:
        happened = event is None or any(each["name"] == event for info in infos for each in info["events"])
        told = infos[-1]["telemetry"]
        return happened and all(low <= told.get(key, np.nan) <= high for key, (low, high) in ranges.items())

    return succeeded


def _is_range(value: Any) -> bool:
    numbers = isinstance(value, list) and all(isinstance(each, int | float) for each in value)
    return numbers and len(value) == 2 and value[0] <= value[1]


def _expert(path: Path, expert: Any, library: ChunkLibrary) -> Callable[[Start], Policy]:
    if isinstance(expert, list):
        actions = [step for name in expert for step in library[str(name)].steps]
        return lambda start: Script(actions, library.vocabulary.noop())
    if not isinstance(expert, str) or ":" not in expert:
        raise UserError(f"{path}: expert is an import path such as rover.py:Expert, or a list of chunks")
    found: Callable[[Start], Policy] = load_object(_beside(path, expert))
    if not callable(found):
        raise UserError(f"{path}: expert {expert} cannot be called with a start")
    return lambda start: CheckedExpert(found, start, expert)


class CheckedExpert:
    """Another's expert: what goes wrong in it is told with its place."""

    def __init__(self, make: Callable[[Start], Policy], start: Start, name: str) -> None:
        self._name = name
        with others_code(name):
            self._expert = make(start)

    def act(self, frame: Frame, info: Info) -> NDArray[np.float32]:
        with others_code(self._name):
            return np.asarray(self._expert.act(frame, info), np.float32)


class Script:
    """Takes the same actions from wherever it starts, then none."""

    def __init__(self, actions: Sequence[NDArray[np.float32]], rest: NDArray[np.float32]) -> None:
        self._actions, self._rest = iter(actions), rest

    def act(self, frame: Frame, info: Info) -> NDArray[np.float32]:
        return next(self._actions, self._rest)
