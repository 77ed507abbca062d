"""A whole run: many recordings, one dataset file; resumable, and the same whatever killed it before."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..executor import ExecutorKind, run_tasks
from ..json_files import read_json, write_json
from ..processes import only_run
from .export import Progress
from .judging.batch import BatchFolder
from .judging.cache import VerdictCache
from .manifest import Manifest
from .merge import Piece, merge
from .page import write_page
from .report import Failure, RecordingReport, RunReport
from .settings import CleanSettings
from .sources import Item
from .work import Task, ask_about, clean_recording, require_judge, task_key

Finished = Callable[[str, int, int], None]
"""Called with a recording's name, and how many are done of how many."""
_POLL_S = 2.0


@dataclass(frozen=True)
class RunOptions:
    """How a run is carried out; nothing here changes its result."""

    workers: int = 1
    executor: ExecutorKind = "processes"
    dry: bool = False
    segments: Path | None = None
    """Also write each episode as cropped MKV + MCAP into this folder."""
    submit: bool = False
    """Batch mode: hand the questions to the service; otherwise somebody carries the files."""
    wait_s: float = 0.0
    """Batch mode: how long to wait for answers before giving the terminal back."""


def clean(
    items: Sequence[Item],
    out: Path,
    settings: CleanSettings,
    options: RunOptions,
    finished: Finished | None = None,
    progress: Progress | None = None,
) -> RunReport:
    """Clean `items` into the dataset file `out`.

    Finished recordings are kept in `<out>.work` until all are done; `<out>.manifest.json` remembers them
    afterwards, so a second run does only what is new or had failed.
    """
    if options.dry and settings.judge in ("online", "batch"):
        settings = replace(settings, judge="none")  # a dry run asks no service
    require_judge(settings)
    folder = out.with_name(f"{out.name}.work")
    cache = out.with_name(f"{out.name}.verdicts.sqlite")
    run = uuid.uuid4().hex
    tasks = [
        Task(item, task_key(item, settings), folder, settings, run, cache, options.segments, options.dry)
        for item in items
    ]
    if options.dry:
        results, failures = _run_all(tasks, options, finished, progress)
        return RunReport(tuple(results.values()), tuple(failures.values()))
    with only_run(folder):
        _remove_leftovers(out)
        manifest = Manifest.read(out)
        known = {e.key: Piece(e.key, e.report, out, e.first_episode) for e in manifest.entries}
        open_tasks = [task for task in tasks if task.key not in known and not _done(task)]
        reused = len(tasks) - len(open_tasks)
        failures = {}
        if settings.judge == "batch" and open_tasks:
            waiting = _ask_in_batches(open_tasks, options, failures, finished)
            if waiting:
                return RunReport((), tuple(failures.values()), reused, waiting)
            open_tasks = [task for task in open_tasks if task.key not in failures]
        failures |= _run_all(open_tasks, options, finished, progress)[1]
        pieces = [
            known.get(task.key) or Piece(task.key, _read_report(task), task.part)
            for task in tasks
            if task.key in known or _done(task)
        ]
        report = RunReport(tuple(piece.report for piece in pieces), tuple(failures.values()), reused)
        if pieces:
            if [piece.key for piece in pieces] != [entry.key for entry in manifest.entries]:
                merge(pieces, out, settings)
            write_json(out.with_name(f"{out.name}.summary.json"), report.summary())
            write_page(report, out.with_name(f"{out.name}.html"), out.name)
        shutil.rmtree(folder)
    return report


def _run_all(
    tasks: Sequence[Task], options: RunOptions, finished: Finished | None, progress: Progress | None
) -> tuple[dict[str, RecordingReport], dict[str, Failure]]:
    """Clean each recording; reports and failures by key, in the order of the tasks.

    Only a lone worker can tell of single frames.
    """
    alone = options.executor == "processes" and (options.workers == 1 or len(tasks) == 1)
    work = partial(clean_recording, progress=progress) if alone else clean_recording
    results: dict[str, RecordingReport | Failure] = {}
    try:
        with closing(run_tasks(work, tasks, options.workers, options.executor)) as done_tasks:
            for done, (task, result) in enumerate(done_tasks, 1):
                results[task.key] = result
                if finished:
                    finished(task.item.name, done, len(tasks))
    finally:
        if tasks and not options.dry:
            _remove_unfinished(tasks[0].folder)
    in_order = {task.key: results[task.key] for task in tasks}
    return (
        {key: result for key, result in in_order.items() if isinstance(result, RecordingReport)},
        {key: result for key, result in in_order.items() if isinstance(result, Failure)},
    )


def _ask_in_batches(
    tasks: Sequence[Task], options: RunOptions, failures: dict[str, Failure], finished: Finished | None
) -> int:
    """Write the questions of recordings that have none yet, exchange files with the service, read answers.

    Returns how many questions are still open.
    """
    first = tasks[0]
    assert first.settings.service is not None
    unasked = [task for task in tasks if not _asked_mark(task).exists()]
    for done, (task, result) in enumerate(
        run_tasks(ask_about, unasked, options.workers, options.executor), 1
    ):
        if isinstance(result, Failure):
            failures[task.key] = result
        else:
            _asked_mark(task).touch()
        if finished:
            finished(task.item.name, done, len(unasked))
    cache = VerdictCache(first.cache)
    batches = BatchFolder(first.folder / "batch", first.settings.service, cache)
    give_up = time.monotonic() + options.wait_s
    while True:
        if options.submit:
            batches.fetch()
        batches.receive()
        if options.submit:
            batches.submit()
        waiting = batches.pending()
        if not waiting or time.monotonic() >= give_up:
            cache.close()
            return waiting
        time.sleep(min(_POLL_S, max(0.0, give_up - time.monotonic())))


def _asked_mark(task: Task) -> Path:
    return task.folder / f"{task.key}.asked"


def _done(task: Task) -> bool:
    return task.part.exists() and task.report.exists()


def _read_report(task: Task) -> RecordingReport:
    return RecordingReport.from_json(read_json(task.report))


def _remove_unfinished(folder: Path) -> None:
    """Parts of recordings whose worker was stopped; the workers are gone when this is called."""
    for leftover in folder.glob(".*.tmp*"):
        leftover.unlink(missing_ok=True)


def _remove_leftovers(out: Path) -> None:
    """Temporary files of a run that was killed while it put the parts together."""
    for leftover in out.parent.glob(f".{out.name}.*.tmp*"):
        leftover.unlink(missing_ok=True)
