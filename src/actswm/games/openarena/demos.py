"""Record a match as the engine's own demo, with what was pressed inside it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...atomic import writing, written_whole
from ...controls import KEYS14
from ...errors import UserError
from ...formats.quakedemo import KEYS_NAME
from ..behaviour import make_behaviour
from ..guard import EngineDied
from .client import Client
from .game import Keys, OpenArenaGame

DEMO_NAME = "match"
SUFFIX = ".dm_71"
RESPAWN_STEPS = 45
"""A dead player must wait before a press of Fire brings it back."""
HIDDEN = ("Aim",)
"""Zooming is the client's own affair: a demo neither holds nor shows it."""


@dataclass(frozen=True)
class RecordedMatch:
    path: Path
    action: NDArray[np.float32]
    """(n, 14) what was pressed, step by step."""


def record_match(
    path: Path,
    *,
    world: str = "oa_dm1",
    steps: int = 1000,
    bots: int = 3,
    seed: int = 0,
    behaviour: str = "explorer",
    give_up_at: Sequence[int] = (),
    progress: Callable[[int], None] = lambda steps: None,
) -> RecordedMatch:
    """Play `steps` raw steps against `bots`; the demo appears at `path` when it is complete.

    At the steps `give_up_at` the player ends its life, and comes back as after any death.
    """
    if path.suffix != SUFFIX:
        raise UserError(f"{path}: a demo of OpenArena is called *{SUFFIX}")
    with writing(path):  # before the match, not after it
        path.parent.mkdir(parents=True, exist_ok=True)
    player = make_behaviour(behaviour, OpenArenaGame(world, bots=bots), np.random.default_rng((seed, 1)))
    keys, actions = Keys(), []
    hidden = [KEYS14.index(name) for name in HIDDEN]
    with contextlib.closing(Client(f"openarena/{world}", world, (128, 128), bots)) as client:
        client.command("set snaps 25")  # a snapshot each tick
        client.begin()
        # Said before the recording starts, so that every tick of it knows; and on each step again.
        _tell(client, KEYS14.noop())
        client.step([])
        client.command(f"record {DEMO_NAME}")
        client.step([])
        dead_for = 0
        for step in range(steps):
            info = {"events": [], "telemetry": dict(client.telemetry)}
            action = np.array(player.act(client.frame(), info), np.float32)
            action[hidden] = 0
            if dead_for > RESPAWN_STEPS:  # a press of Fire, not a held one, brings the player back
                action[KEYS14.index("Fire")] = step % 2
            _tell(client, action)
            if step in give_up_at:
                client.command("kill")
            events = client.step(keys.act(action))
            actions.append(action)
            if any(event["name"] == "death" for event in events):
                dead_for = 1
            elif dead_for:
                dead_for = (dead_for + 1) % (RESPAWN_STEPS + 30)
            progress(step + 1)
        client.command("stoprecord")
        for _ in range(3):
            client.step(keys.release())
        demo = client.engine.folder / ".openarena" / "baseoa" / "demos" / f"{DEMO_NAME}{SUFFIX}"
        if not demo.exists():
            raise EngineDied(f"openarena/{world}: the engine recorded no demo; try again")
        with written_whole(path) as temporary:
            shutil.copyfile(demo, temporary)
    return RecordedMatch(path, np.array(actions, np.float32))


def _tell(client: Client, action: NDArray[np.float32]) -> None:
    mask = int((action > 0.5) @ (1 << np.arange(KEYS14.size)))
    client.command(f"sets {KEYS_NAME} {mask:04x}")
