"""Freedoom records its episodes as `.lmp` demos, and replays them: tick by tick, bit for bit."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...atomic import writing
from ...data import DatasetSpec
from ...errors import UserError
from ...formats.lmp import RUN, LmpEpisode, LmpRun, read_lmp_run
from ...formats.replay import Capture, Replay, Window
from ...game import pose_of
from ...json_files import write_json
from ..episodes import RecordingPlan, record_episode
from ..recording import dataset_spec
from .game import FreedoomGame


def record_lmp(
    plan: RecordingPlan, steps: int, folder: Path, progress: Callable[[int], None] = lambda steps: None
) -> LmpRun:
    """The run that `actswm record` makes of the same plan, as demos. `run.json` appears when all is there."""
    if not plan.game.startswith("freedoom/"):
        raise UserError(f"only Freedoom records .lmp demos, not {plan.game!r}")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    episodes: list[LmpEpisode] = []
    with contextlib.closing(plan.open_game()) as game:
        assert isinstance(game, FreedoomGame)
        done = 0
        while done < steps:
            name = f"episode-{len(episodes):05}.lmp"
            recorder: Any = _WithDemo(game, folder / name)
            episode = record_episode(recorder, plan, len(episodes)).first(steps - done)
            episodes.append(LmpEpisode(name, int(episode.seed), len(episode)))
            done += len(episode)
            progress(done)
        game.reset(seed=0)  # completes the last demo
    digests = [hashlib.sha256((folder / episode.file).read_bytes()).hexdigest() for episode in episodes]
    told = [asdict(replace(episode, sha256=digest)) for episode, digest in zip(episodes, digests)]
    stored = {"plan": asdict(plan), "episodes": told}
    write_json(folder / RUN, stored)
    return read_lmp_run(folder)


class _WithDemo:
    """A game whose next episode is recorded."""

    def __init__(self, game: FreedoomGame, demo: Path) -> None:
        self._game, self._demo = game, demo

    def reset(self, **arguments: Any) -> Any:
        return self._game.reset(**{**arguments, "options": {"demo": self._demo}})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)


def plan_of(run: LmpRun) -> RecordingPlan:
    try:
        plan = RecordingPlan(**{**run.plan, "size": tuple(run.plan["size"])})
        words, numbers = (plan.game, plan.behaviour), (plan.seed, plan.episode_steps, *plan.size)
        if not all(isinstance(word, str) for word in words) or not all(type(one) is int for one in numbers):
            raise TypeError("a word or number in it is none")
        return plan
    except (KeyError, TypeError) as error:
        raise UserError(f"{run.folder / RUN}: its plan cannot be read ({error})") from None


def _opened(run: LmpRun) -> FreedoomGame:
    plan = plan_of(run)
    try:
        game = plan.open_game()
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise UserError(f"{run.folder / RUN}: its game cannot be opened ({error})") from None
    if not isinstance(game, FreedoomGame):
        game.close()
        raise UserError(f"{run.folder / RUN}: {plan.game} is not a game of Freedoom")
    return game


def recorders_spec(run: LmpRun) -> DatasetSpec:
    """The dataset file that the recorder writes of this run."""
    with contextlib.closing(_opened(run)) as game:
        return dataset_spec(plan_of(run), game)


class FreedoomReplay:
    """A `ReplayEngine`: a window is an episode, and the engine says itself what was pressed."""

    def __init__(self, replay: Replay) -> None:
        self.run = read_lmp_run(replay.path)
        self._game: FreedoomGame | None = None

    def start(self) -> None:
        self._game = _opened(self.run)

    def seek(self, tick: int) -> None:
        """An episode is replayed from its start."""

    def spectate(self, slot: int) -> None:
        """There is one player."""

    def strip_hud(self) -> None:
        """The engine draws none."""

    def capture(self, window: Window) -> Capture:
        assert self._game is not None
        episode = self.run.episodes[window.round - 1]
        path = self.run.folder / episode.file
        demo = self._game.replay(path, seed=episode.seed)
        if len(demo.actions) < episode.steps:
            raise UserError(
                f"{path}: has {len(demo.actions)} steps, not {episode.steps}; record the run again"
            )
        count = episode.steps
        tick = window.start + np.arange(count)
        pose = np.array([pose_of(told) for told in demo.telemetry[:count]], np.float32)
        return Capture(
            frames=list(demo.frames[:count]),
            time_s=tick / self._game.fps,
            tick=tick,
            action=demo.actions[:count],
            columns={"seed": np.full(count, episode.seed), "pose": pose},
        )

    def stop(self) -> None:
        if self._game is not None:
            self._game.close()
            self._game = None
