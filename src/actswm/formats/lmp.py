"""Runs of Freedoom as `.lmp` demos: one demo an episode, and `run.json`, which says how to replay them.

A `.lmp` alone holds the input and not the world it was played in: without the game's name, options and seed it replays
something else. So a run is a folder.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError
from ..json_files import read_json
from .replay import Player, Replay, Round, Track

RUN = "run.json"
TICK_RATE = 35.0
_LONGEST = 10_000_000
"""Steps of an episode: three days."""


@dataclass(frozen=True)
class LmpEpisode:
    file: str
    seed: int
    steps: int
    sha256: str = ""
    """Of the file: a demo also sets the engine's variables, and one that is damaged can make it stand still."""


@dataclass(frozen=True)
class LmpRun:
    """`plan` is what the run was recorded with, in the recorder's words."""

    folder: Path
    plan: dict[str, Any]
    episodes: tuple[LmpEpisode, ...]


def read_lmp_run(path: Path) -> LmpRun:
    """`path`: the folder, or its run.json."""
    path = path / RUN if path.is_dir() else path
    if not path.exists():
        raise UserError(f"{path}: is not there; `actswm replay record freedoom/WORLD` makes a folder of demos")
    try:
        stored = read_json(path)
        episodes = tuple(LmpEpisode(**one) for one in stored["episodes"])
        run = LmpRun(path.parent, dict(stored["plan"]), episodes)
        if not all(_plausible(episode) for episode in episodes):
            raise ValueError("an episode is not a file beside it, a seed and a number of steps")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{path}: is not the list of a run of .lmp demos ({error!r})") from None
    for episode in episodes:
        check_lmp(run.folder / episode.file, episode.sha256)
    if not episodes:
        raise UserError(f"{path}: the run has no episodes")
    return run


def _plausible(episode: LmpEpisode) -> bool:
    numbers = all(type(one) is int for one in (episode.seed, episode.steps))
    beside = isinstance(episode.file, str) and Path(episode.file).name == episode.file
    return numbers and beside and 0 <= episode.seed < 2**63 and 1 <= episode.steps <= _LONGEST


def check_lmp(path: Path, sha256: str = "") -> None:
    """Refuse what is not a whole ZDoom demo (`FORM`, its length, `ZDEM`), or not the one that was recorded."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    if not data:
        raise UserError(f"{path}: the demo is empty; record it again")
    if data[:4] != b"FORM" or data[8:12] != b"ZDEM":
        raise UserError(f"{path}: is not a demo of ZDoom or ViZDoom (it does not begin with FORM ... ZDEM)")
    length = int.from_bytes(data[4:8], "big")
    if length + 8 > len(data):
        raise UserError(
            f"{path}: the demo breaks off after {len(data)} of {length + 8} bytes; record it again"
        )
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise UserError(f"{path}: is not the demo that {RUN} tells of; copy it again or record it again")


def lmp_replay(run: LmpRun) -> Replay:
    """The run as a replay: each episode is a round, and the ticks count on."""
    starts = np.cumsum([0, *(episode.steps for episode in run.episodes)])
    ticks = int(starts[-1])
    rounds = tuple(
        Round(number, int(start), int(end) - 1, int(start))
        for number, (start, end) in enumerate(pairwise(starts), 1)
    )
    nothing = np.zeros(ticks, np.float32)
    return Replay(
        path=run.folder / RUN,
        game="freedoom",
        map=str(run.plan.get("game", "")).removeprefix("freedoom/"),
        build="",
        tick_rate=TICK_RATE,
        first_tick=0,
        last_tick=ticks - 1,
        players=(Player("player", 0, 0),),
        rounds=rounds,
        tracks={0: Track(0, np.arange(ticks), np.ones(ticks, bool), nothing, nothing)},
        missing=("buttons and view angles: the engine tells them when it replays",),
    )
