"""The reference runs of Freedoom's `follow` tasks: drawn once from seeds, kept in `reference_runs.json`.

A run is a start seed and a script of chunks in which the player walks, turns and comes to rest. Scripts that bump
into walls, or end where they began, are not kept: a run has to be worth following.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from ...chunks import ChunkLibrary, load_library
from ..freedoom import FreedoomGame

LIBRARY = "keys14/follow"
FIRST_SEED = 20_000
RUNS = 21
"""20 evaluated starts and one outside."""
WALKS = ("forward", "forward", "forward left", "forward right", "left", "right")
TURNS = ("turn left", "turn right")
REST = ("wait",) * 5
"""Until a runner has come to rest: the end of a run is a place where one stays."""
MIN_DISTANCE = 150.0
"""Between start and end, in map units; the player is 32 wide."""
MIN_TURN = 40.0
"""Between the first and last heading, in degrees."""


@dataclass(frozen=True)
class Pose:
    x: float
    y: float
    yaw: float

    def distance(self, other: Pose) -> float:
        return float(np.hypot(self.x - other.x, self.y - other.y))

    def turn(self, other: Pose) -> float:
        """Degrees between the two headings, 0 to 180."""
        return abs((self.yaw - other.yaw + 180) % 360 - 180)


@dataclass(frozen=True)
class ReferenceRun:
    seed: int
    chunks: tuple[str, ...]
    end: Pose


def script_actions(chunks: Sequence[str]) -> NDArray[np.float32]:
    """(4 * chunks, A) raw actions."""
    library = load_library(LIBRARY)
    return np.concatenate([library[name].steps for name in chunks])


def draw_script(seed: int) -> tuple[str, ...]:
    """The chunks that a seed stands for: turn for some, then walk for some, a few times, and rest."""
    rng = np.random.default_rng(seed)
    chunks: list[str] = []
    while len(chunks) < 9:
        chunks += [str(rng.choice(TURNS))] * int(rng.integers(1, 4))
        chunks += [str(rng.choice(WALKS))] * int(rng.integers(2, 5))
    return (*chunks[:12], *REST)


def load_runs(world: str) -> tuple[ReferenceRun, ...]:
    """The kept runs of `freedoom/<world>`."""
    text = resources.files("actswm.games.tasks").joinpath("reference_runs.json").read_text()
    return tuple(
        ReferenceRun(run["seed"], tuple(run["chunks"]), Pose(**run["end"])) for run in json.loads(text)[world]
    )


def dump_runs(runs: dict[str, tuple[ReferenceRun, ...]]) -> str:
    """The text of `reference_runs.json`."""
    worlds = (
        f"{json.dumps(world)}: [\n" + ",\n".join(json.dumps(asdict(run)) for run in drawn) + "\n]"
        for world, drawn in runs.items()
    )
    return "{\n" + ",\n".join(worlds) + "\n}\n"


def draw_runs(world: str, count: int = RUNS) -> tuple[ReferenceRun, ...]:
    """The first `count` runs worth following, by increasing seed."""
    library = load_library(LIBRARY)
    game = FreedoomGame(world, size=(8, 8))
    runs: list[ReferenceRun] = []
    try:
        seed = FIRST_SEED
        while len(runs) < count:
            run = _try(game, library, seed)
            runs += [run] if run else []
            seed += 1
    finally:
        game.close()
    return tuple(runs)


def pose_of(telemetry: Mapping[str, float]) -> Pose:
    return Pose(*(round(telemetry[axis], 3) for axis in ("x", "y", "yaw")))


def _try(game: FreedoomGame, library: ChunkLibrary, seed: int) -> ReferenceRun | None:
    chunks = draw_script(seed)
    _, info = game.reset(seed=seed)
    start = before = pose_of(info["telemetry"])
    for name in chunks:
        *_, info = game.fast_forward(library[name].steps)
        pose = pose_of(info["telemetry"])
        if name in WALKS and pose.distance(before) < 8:
            return None  # ran into a wall
        before = pose
    if before.distance(start) < MIN_DISTANCE or before.turn(start) < MIN_TURN:
        return None
    return ReferenceRun(seed, chunks, before)
