"""How much of an engine's speed is left when we record: the recorder against the bare engine loop.

Both play the same episodes at the same resolution with one engine, in turns, in one run. The bare loop does nothing
but step the engine and take the frame at the recorded size; the recorder also plays, hands over and writes to disk.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import open_checked
from ..errors import UserError
from ..games.episodes import RecordingPlan
from ..games.recording import record

EPISODE_STEPS = 800


@dataclass(frozen=True)
class Trace:
    """One recorded episode, for the engine to play again."""

    seed: int
    actions: NDArray[np.float32]


EngineLoop = Callable[[RecordingPlan, Sequence[Trace]], float]
"""Plays the traces on the bare engine and returns frames per second."""


@dataclass(frozen=True)
class GameSpeed:
    game: str
    engine_fps: float
    recorder_fps: float

    @property
    def recorder_over_engine(self) -> float:
        return self.recorder_fps / self.engine_fps


@dataclass(frozen=True)
class GamesBench:
    speeds: tuple[GameSpeed, ...]
    missing: dict[str, str]
    """Games that could not run here, and why."""

    def figures(self) -> dict[str, float]:
        """The ratio of each family, and frames/s for information."""
        figures: dict[str, float] = {}
        for speed in self.speeds:
            family = speed.game.split("/")[0]
            figures[f"{family}.recorder_over_engine"] = speed.recorder_over_engine
            figures[f"{family}.recorder_fps"] = speed.recorder_fps
            figures[f"{family}.engine_fps"] = speed.engine_fps
        return figures


def bench_games(steps: int = 8_000, rounds: int = 5, size: int = 128) -> GamesBench:
    """Measure every game whose engine is here."""
    speeds, missing = [], {}
    for game, (loop, share) in LOOPS.items():
        plan = RecordingPlan(game, seed=1, size=(size, size), episode_steps=EPISODE_STEPS)
        # Whole episodes: a worker plays to the end of an episode of which the file takes only a part.
        episodes = max(2, round(steps * share / EPISODE_STEPS))
        try:
            speeds.append(measure(plan, loop, episodes * EPISODE_STEPS, rounds))
        except UserError as error:
            missing[game] = str(error)
    return GamesBench(tuple(speeds), missing)


def measure(plan: RecordingPlan, loop: EngineLoop, steps: int, rounds: int) -> GameSpeed:
    """Recorder and bare loop in turns, `rounds` times; the best of each counts: other load only slows down."""
    recorder, engine = [], []
    with tempfile.TemporaryDirectory(prefix="actswm-bench-") as folder:
        for number in range(rounds):
            path = Path(folder) / f"{number}.h5"
            recorder.append(_recorder_fps(plan, steps, path))
            engine.append(loop(plan, _traces(path)))
            path.unlink()
    return GameSpeed(plan.game, max(engine), max(recorder))


def _recorder_fps(plan: RecordingPlan, steps: int, path: Path) -> float:
    """Frames/s between the first finished episode and the last: starting the worker is not recording."""
    reports: list[tuple[float, int]] = []
    record(plan, steps, path, progress=lambda frames: reports.append((time.perf_counter(), frames)))
    (begin, first), (end, last) = reports[1], reports[-1]
    return (last - first) / (end - begin)


def _traces(path: Path) -> list[Trace]:
    with open_checked(path) as file:
        return [
            Trace(int(file.column("seed")[offset]), file.action[offset : offset + length])
            for offset, length in zip(file.ep_offset[:], file.ep_len[:])
        ]


def freedoom_loop(plan: RecordingPlan, traces: Sequence[Trace]) -> float:
    import cv2

    from ..games.freedoom.engine import Engine, EngineSettings, screen_resolution
    from ..games.freedoom.worlds import WORLDS

    world = WORLDS[plan.game.split("/")[1]]
    settings = EngineSettings(world, screen_resolution(plan.size), monsters=False, weapon=True, goal=False)
    engine = Engine(settings)
    height, width = plan.size
    frames = 0
    try:
        doom = engine.doom
        begin = time.perf_counter()
        for trace in traces:
            doom.set_doom_map(world.maps[trace.seed % len(world.maps)])
            doom.set_seed(trace.seed)
            doom.new_episode()
            for buttons in (trace.actions > 0.5).tolist():
                doom.make_action(buttons)
                state = doom.get_state()
                if state is None:
                    break
                screen: Any = state.screen_buffer
                cv2.resize(screen, (width, height), interpolation=cv2.INTER_AREA)
                frames += 1
        return frames / (time.perf_counter() - begin)
    finally:
        engine.close()


def minetest_loop(plan: RecordingPlan, traces: Sequence[Trace]) -> float:
    from ..controls import KEYS14
    from ..games.minetest.client import STEP_NS, Client
    from ..games.minetest.controls import Hands
    from ..games.minetest.world import WORLD_SEED, WORLDS, episode_start

    world = WORLDS[plan.game.split("/")[1]](WORLD_SEED)
    client = Client(plan.game, world, plan.size)
    frames = 0
    try:
        begin = time.perf_counter()
        for trace in traces:
            hands = Hands(KEYS14)
            client.begin(episode_start(world, trace.seed).command())
            for keys, mouse in map(hands.act, trace.actions):
                client.engine.step(STEP_NS, keys, mouse)
                client.frame()
                frames += 1
            client.step(hands.release(), (0, 0))
        return frames / (time.perf_counter() - begin)
    finally:
        client.close()


def openarena_loop(plan: RecordingPlan, traces: Sequence[Trace]) -> float:
    from ..games.openarena.client import STEP_NS, Client
    from ..games.openarena.game import Keys

    client = Client(plan.game, plan.game.split("/")[1], plan.size, bots=0)
    frames = 0
    try:
        begin = time.perf_counter()
        for trace in traces:
            keys = Keys()
            client.begin()
            for changes in map(keys.act, trace.actions):
                client.engine.step(STEP_NS, changes)
                client.frame()
                frames += 1
            client.step(keys.release())
        return frames / (time.perf_counter() - begin)
    finally:
        client.close()


LOOPS: dict[str, tuple[EngineLoop, float]] = {
    "freedoom/maps": (freedoom_loop, 1.0),
    "minetest/arena": (minetest_loop, 0.3),
    "openarena/oa_dm1": (openarena_loop, 0.3),
}
"""Per benchmarked game the bare loop of its engine, and its share of the steps (slow engines take fewer)."""
