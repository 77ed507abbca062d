"""Evaluate methods on a task's starts: the same starts and references for all, every finished episode on disk.

    out/references/00-64px.npz, .png      the clips to follow, and their filmstrips
    out/<method>/episode-00.json, .mp4    what happened
    out/results.json                      the counts

An episode whose file is there is not played again. An engine that dies costs one more try, then the episode.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..executor import ExecutorKind, run_tasks
from ..game import Game
from ..json_files import read_json, write_json
from ..origin import UNKNOWN, Origin
from ..results import EpisodeResult, MethodResult, Plan, save_result
from ..results.form import decode, encode
from ..task import Task
from .agents import Episode, Method
from .closed_loop import Outcome, run_episode
from .film import Film
from .references import Reference, load_reference, record_reference, save_reference, write_filmstrip
from .wilson import wilson_interval

log = logging.getLogger(__name__)
ATTEMPTS = 2
"""Times that an episode is tried when the engine dies in it."""


@dataclass(frozen=True)
class Evaluation:
    """What is compared, and where it is kept."""

    task: Task
    episodes: int
    raw_steps: int
    out: Path
    open_game: Callable[[int], Game]
    """A game that renders square frames of this many pixels."""
    engine_errors: tuple[type[Exception], ...]
    reference: Reference | None = None
    """Follow this one instead of the expert's."""
    film: bool = True
    origin: Origin = UNKNOWN
    """Kept beside the counts."""

    def __post_init__(self) -> None:
        available = len(self.task.starts)
        if not 1 <= self.episodes <= available:
            raise UserError(f"task {self.task.name!r} has {available} starts, not {self.episodes}")

    def run(
        self,
        methods: Sequence[tuple[Method, int]],
        progress: Callable[[str, EpisodeResult | None], None] = lambda method, result: None,
        executor: ExecutorKind = "processes",
    ) -> Plan:
        """Play every method, each with its frame size; `progress` hears of each episode, None if it was lost.

        They are played one after another in this process, or each as one task of a Ray cluster.
        """
        play = self._play_on_ray if executor == "ray" else self._play_here
        results = play(methods, progress)
        summaries = tuple(_summarise(method.name, results[method.name]) for method, _ in methods)
        plan = Plan(self.task.name, summaries, self.origin)
        save_result(self.out / "results.json", plan)
        return plan

    def _play_here(
        self, methods: Sequence[tuple[Method, int]], progress: Callable[[str, EpisodeResult | None], None]
    ) -> dict[str, list[EpisodeResult | None]]:
        results: dict[str, list[EpisodeResult | None]] = {method.name: [] for method, _ in methods}
        for size in dict.fromkeys(size for _, size in methods):
            group = [method for method, own in methods if own == size]
            with contextlib.closing(self.open_game(size)) as game:
                for method in group:
                    for number in range(self.episodes):
                        result = self._episode(game, size, method, number)
                        results[method.name].append(result)
                        progress(method.name, result)
        return results

    def _play_on_ray(
        self, methods: Sequence[tuple[Method, int]], progress: Callable[[str, EpisodeResult | None], None]
    ) -> dict[str, list[EpisodeResult | None]]:
        tasks = [(row, number) for row in range(len(methods)) for number in range(self.episodes)]
        results: dict[str, list[EpisodeResult | None]] = {method.name: [None] * self.episodes for method, _ in methods}
        elsewhere = replace(self, out=self.out.resolve())
        for (row, number), result in run_tasks(partial(elsewhere._alone, methods), tasks, 1, "ray"):
            name = methods[row][0].name
            results[name][number] = result
            progress(name, result)
        return results

    def _alone(self, methods: Sequence[tuple[Method, int]], task: tuple[int, int]) -> EpisodeResult | None:
        (method, size), number = methods[task[0]], task[1]
        with contextlib.closing(self.open_game(size)) as game:
            return self._episode(game, size, method, number)

    def _episode(self, game: Game, size: int, method: Method, number: int) -> EpisodeResult | None:
        folder = self.out / method.name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"episode-{number:02}.json"
        identity = {"task": self.task.name, "size": size, **method.identity}
        if path.exists():
            return _kept(path, identity)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                outcome = self._play(game, size, method, number, path.with_suffix(".mp4"))
            except self.engine_errors as error:
                log.warning("%s, episode %d, attempt %d: %s", method.name, number, attempt, error)
                continue
            result = _result(method.name, self.task.name, number, outcome, attempt, identity)
            write_json(path, encode(result, digits=None))
            return result
        return None

    def _play(self, game: Game, size: int, method: Method, number: int, film: Path) -> Outcome:
        reference = self.reference_of(game, size, number, method.horizon)
        start = self.task.starts[number]
        agent = method.make(Episode(number, start, reference))
        with contextlib.ExitStack() as stack:
            watch: Callable[..., None] = lambda step, frame, decision: None  # noqa: E731
            if self.film:
                watch = stack.enter_context(Film(film, reference, game.fps)).add
            return run_episode(game, self.task, start, agent, self.raw_steps, watch)

    def reference_of(self, game: Game, size: int, number: int, horizon: int) -> Reference:
        """The reference of a start: the given one, the one on disk, or a new one of the expert."""
        if self.reference is not None:
            self.reference.check("--reference", horizon)
            if self.reference.clip.shape[1:3] != (size, size):
                raise UserError(
                    f"--reference: has frames of {self.reference.clip.shape[1:3]}, not {size} pixels"
                )
            return self.reference
        number = number if self.task.own_references else 0
        folder = self.out / "references"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{number:02}-{size}px.npz"
        if path.exists():
            reference = load_reference(path)
        else:
            start = self.task.starts[number] if self.task.own_references else self.task.reference_start
            reference = record_reference(game, self.task, start, self.raw_steps, horizon)
            write_filmstrip(path.with_suffix(".png"), reference)
            save_reference(path, reference)
        reference.check(str(path), horizon)
        return reference


def _result(
    method: str, task: str, number: int, outcome: Outcome, attempt: int, identity: Mapping[str, Any]
) -> EpisodeResult:
    decisions = outcome.decisions
    return EpisodeResult(
        method=method,
        task=task,
        episode=number,
        succeeded=outcome.succeeded,
        chunks=outcome.chunks,
        raw_steps=outcome.raw_steps,
        choices=tuple(decision.name for decision in decisions),
        costs=tuple(decision.cost for decision in decisions),
        plan_cpu_seconds=sum(decision.cpu_seconds for decision in decisions) / len(decisions),
        attempts=attempt,
        identity=identity,
    )


def _kept(path: Path, identity: Mapping[str, Any]) -> EpisodeResult:
    try:
        result = decode(EpisodeResult, read_json(path))
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise UserError(f"{path}: not an episode ({error}); remove it to have it played again") from None
    for key in {*identity, *result.identity}:
        if identity.get(key) != result.identity.get(key):
            raise UserError(
                f"{path}: was played with {key} {result.identity.get(key)!r}, now {identity.get(key)!r}; "
                "give another --out, or remove the folder"
            )
    return result


def _summarise(method: str, results: Sequence[EpisodeResult | None]) -> MethodResult:
    played = [result for result in results if result is not None]
    won = [result.chunks for result in played if result.succeeded]
    low, high = wilson_interval(len(won), len(results))
    return MethodResult(
        method=method,
        episodes=len(results),
        successes=len(won),
        low=low,
        high=high,
        lost=len(results) - len(played),
        chunks_to_success=sum(won) / len(won) if won else None,
        plan_cpu_seconds=sum(result.plan_cpu_seconds for result in played) / max(1, len(played)),
    )
