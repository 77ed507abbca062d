"""All windows of a replay: in parallel, resumable, each on its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ...data import DatasetSpec
from ...errors import UserError
from ...executor import ExecutorKind, run_tasks
from ...formats.replay import Replay, Window
from ...json_files import read_json, write_json
from ...processes import only_run
from .dataset import put_together, replay_spec, windows_in
from .engine import OpenEngine
from .render import ROWS, ExportSettings, Outcome, Task, cut, file_digest, finished, render_window, task_key
from .windows import WindowRules, manifest

Finished = Callable[[str, int, int], None]
"""Called with a window's name, and how many are done of how many."""


@dataclass(frozen=True)
class RenderReport:
    outcomes: tuple[Outcome, ...]
    """Of all windows, in their order."""
    reused: int
    """Windows that an earlier run had finished."""
    frames: int
    """In the dataset file."""
    true_controls: bool
    """Does the demo, or its engine, say what was pressed?"""

    @property
    def failures(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.problem is not None)


def render(
    replay: Replay,
    windows: Sequence[Window],
    rules: WindowRules,
    out: Path,
    open_engine: OpenEngine,
    settings: ExportSettings,
    *,
    workers: int = 1,
    executor: ExecutorKind = "processes",
    finish: Finished = lambda name, done, total: None,
    spec: DatasetSpec | None = None,
) -> RenderReport:
    """Render `windows` into the folder `out`. The same call again does only what is missing or had failed.

    `spec` is for engines that decide the dataset file's columns.
    """
    spec = spec or replay_spec(replay, settings)
    digest = file_digest(replay.path)
    tasks = [
        Task(
            window,
            cut(replay, window),
            task_key(digest, window, settings),
            (out / window.name).absolute(),
            settings,
            open_engine,
        )
        for window in windows
    ]
    with only_run(out, ".lock"):
        for leftover in out.glob(".*.tmp*"):  # of a run that was killed
            leftover.unlink(missing_ok=True)
        _require_same(out, settings, digest)
        write_json(out / "windows.json", manifest(replay, windows, rules))
        kept = windows_in(out)
        outcomes = {
            task.key: outcome
            for task in tasks
            if (task.key in kept or (task.folder / ROWS).exists()) and (outcome := finished(task)) is not None
        }
        open_tasks = [task for task in tasks if task.key not in outcomes]
        reused = len(outcomes)
        for done, (task, outcome) in enumerate(run_tasks(render_window, open_tasks, workers, executor), 1):
            outcomes[task.key] = outcome
            finish(task.window.name, done, len(open_tasks))
        good = [task for task in tasks if outcomes[task.key].problem is None]
        frames = put_together(out, good, spec) if good else 0
    told = spec.attributes.get("true_controls", True) is not False
    return RenderReport(tuple(outcomes[task.key] for task in tasks), reused, frames, told)


def _require_same(out: Path, settings: ExportSettings, digest: str) -> None:
    """Refuse to mix clips of different demos, sizes or engines in one folder."""
    mine = json.loads(json.dumps({"demo": digest, **asdict(settings)}))
    path = out / "settings.json"
    try:
        before = read_json(path)
    except (OSError, ValueError):
        before = mine
    for name, value in mine.items():
        if before.get(name) != value:
            raise UserError(
                f"{out}: was rendered with {name} {before.get(name)}, not {value}; choose another --out"
            )
    write_json(path, mine)
