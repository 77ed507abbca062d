"""Films of planning episodes: which there are, and which are worth showing side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from ..json_files import read_json
from ..results import EpisodeResult, Plan
from ..results.form import decode


@dataclass(frozen=True)
class Film:
    """`planner`: made by a world model's plans, not by a baseline."""

    method: str
    episode: int
    succeeded: bool
    chunks: int
    planner: bool
    path: Path


@dataclass(frozen=True)
class FilmedPlan:
    plan: Plan
    films: tuple[Film, ...]


def with_films(plan: Plan, folder: Path) -> FilmedPlan:
    """A plan and the films of its folder: `METHOD/episode-NN.json` beside `.mp4`, of the same task."""
    films = []
    for method in (each.method for each in plan.methods):
        for path in sorted((folder / method).glob("episode-*.mp4")):
            _require_inside(path, folder)
            about = path.with_suffix(".json")
            try:
                episode = decode(EpisodeResult, read_json(about))
                if episode.task == plan.task:
                    planner = "weights" in episode.identity
                    films.append(Film(method, episode.episode, episode.succeeded, episode.chunks, planner, path))
            except FileNotFoundError:
                continue  # a film without its result: the episode is being played
            except (KeyError, TypeError, ValueError, RecursionError) as error:
                raise UserError(f"{about}: not an episode ({error}); remove it and plan again") from None
    return FilmedPlan(plan, tuple(films))


def _require_inside(path: Path, folder: Path) -> None:
    """A page is made to be sent to others: a result from elsewhere must not put this machine's films into it."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UserError(f"{path}: lies outside {folder}, whose result names it; move the film there, or remove it")


def choose_films(films: Sequence[Film], episodes: int) -> list[list[Film]]:
    """The films of so many episodes, those first in which one method succeeds and another fails.

    World models only, unless there are none: a baseline's film shows little that its count does not say.
    """
    shown = [film for film in films if film.planner] or list(films)
    by_episode: dict[int, list[Film]] = {}
    for film in shown:
        by_episode.setdefault(film.episode, []).append(film)

    def interest(group: list[Film]) -> tuple[bool, int, int]:
        return len({film.succeeded for film in group}) == 1, -len(group), group[0].episode

    return sorted(by_episode.values(), key=interest)[:episodes]
